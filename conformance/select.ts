import { Usage } from './exit.js';
import { PROFILES } from './profile.js';
import type { ProfileName } from './profile.js';
import type { Requirement } from './run/requirement.js';

/**
 * Requirements by id or by the start of one (`as4/3.2/1`, `as4/3.2`, `as4`), several with commas, and by profile.
 * Throws Usage where a part of `only` names nothing.
 */
export function selectRequirements(
  all: readonly Requirement[],
  only: string | undefined,
  profile: string | undefined,
): Requirement[] {
  if (profile !== undefined && !PROFILES.includes(profile as ProfileName))
    throw new Usage(`--profile is one of ${PROFILES.join(', ')}`);
  const fits = ({ profiles }: Requirement) =>
    profile === undefined || profiles === undefined || profiles.includes(profile as ProfileName);
  if (only === undefined) return all.filter(fits);
  const wanted = only.split(',').map((part) => part.trim().replace(/\/$/, ''));
  const named = (id: string, part: string) => id === part || id.startsWith(`${part}/`);
  for (const part of wanted) {
    if (!all.some(({ id }) => named(id, part)))
      throw new Usage(`no requirement ${part}; see as4-once-conformance list`);
  }
  return all.filter((requirement) => fits(requirement) && wanted.some((part) => named(requirement.id, part)));
}
