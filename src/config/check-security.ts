import type { Assembled } from './config.js';
import { error, warning, type Path, type Problem } from './problem.js';
import type { SecurityInput } from './security-schema.js';

/** Role endpoint: what takes a named profile's demands back, and demands that no key of ours can meet. */
export function securityProblems({ config, partners }: Assembled): readonly Problem[] {
  const { role, endpoint, security = {} } = config;
  if (role !== 'endpoint' || endpoint === undefined) return [];
  const levels: readonly (readonly [SecurityInput, Path])[] = [
    [security, ['security']],
    ...partners.flat().flatMap(({ security: own, at }) => (own === undefined ? [] : [[own, [...at, 'security']] as const])),
  ];
  const problems = endpoint.profile === 'custom' ? [] : levels.flatMap(([given, at]) => weakened(endpoint.profile, given, at));
  const encrypted = levels.some(([{ encryption }], i) => (encryption ?? (i === 0 ? 'required' : undefined)) === 'required');
  const { keys = [] } = endpoint;
  if (encrypted && keys.length > 0 && keys.every(({ use }) => use?.includes('decrypt') === false)) {
    problems.push(warning('KEYS_DECRYPT', ['endpoint', 'keys'],
      'none of them decrypts, and messages must be encrypted: every one of them will be refused; give one use: [decrypt]'));
  }
  return problems;
}

/** Whoever names a profile says to others that its rules are kept. Without a signature there is nobody to give a Receipt to. */
function weakened(profile: string, { signature, encryption, commonName, allow = [] }: SecurityInput, at: Path): Problem[] {
  const problems: Problem[] = [];
  const less = (field: keyof SecurityInput, text: string): void => {
    problems.push(warning('PROFILE_WEAKENED', [...at, field], `profile ${profile} ${text}; profile custom is for what you agree on yourselves`));
  };
  if (signature === 'optional') {
    problems.push(error('PROFILE_UNSIGNED', [...at, 'signature'], `profile ${profile} demands signatures; optional is for profile custom`));
  }
  if (encryption === 'optional') less('encryption', 'demands encryption');
  if (commonName === false && profile === 'peppol') less('commonName', 'demands that the certificate\'s CN is the From PartyId: any trusted partner may send as another one');
  if (allow.length > 0) less('allow', `does not know ${allow.join(', ')}`);
  return problems;
}
