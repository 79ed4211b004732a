import { parseArgs } from 'node:util';
import { clauseOf } from './clauses.js';
import { EXIT } from './exit.js';
import type { Output } from './exit.js';
import { REQUIREMENTS } from './registry.js';
import { selectRequirements } from './select.js';

export const LIST_USAGE = `as4-once-conformance list [--only ID,…] [--profile NAME] [--json]
  Prints the requirements: id, level, title, source.
`;

/** The `list` command. */
export async function listCommand(args: string[], out: Output): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string' }, profile: { type: 'string' }, json: { type: 'boolean' } },
  });
  const chosen = selectRequirements(REQUIREMENTS, values.only, values.profile);
  if (values.json === true) {
    const plain = chosen.map(({ run: _run, claimed, ...rest }) => ({
      ...rest,
      claimable: claimed !== undefined,
      clause: clauseOf(rest.id),
    }));
    out.write(`${JSON.stringify(plain, null, 2)}\n`);
    return EXIT.ok;
  }
  let heading = '';
  for (const requirement of chosen) {
    const clause = clauseOf(requirement.id);
    const next = `${clause?.document ?? ''}, ${clause?.section ?? ''}: ${clause?.about ?? ''}`;
    if (next !== heading) out.write(`${heading === '' ? '' : '\n'}${next}\n`);
    heading = next;
    out.write(`  ${requirement.id.padEnd(18)} ${requirement.level.padEnd(8)} ${requirement.title}\n`);
  }
  out.write(`\n${chosen.length} requirements\n`);
  return EXIT.ok;
}
