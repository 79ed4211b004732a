import type { Config } from '../config/config.js';
import type { KeyFacts, SecurityFacts } from '../config/endpoint-facts.js';

/** What holds for an endpoint beside its rules, for people. `config` is the one that may be printed. */
export function endpointLines({ endpoint }: Config, keys: readonly KeyFacts[]): readonly string[] {
  if (endpoint === undefined) return [];
  const { profile, partyId, receivers, onlyPartners = false } = endpoint;
  return [
    `profile   ${profile}${onlyPartners ? ', configured partners only' : ''}`,
    `PartyId   ${partyId === undefined ? 'any: To is not looked at (endpoint.partyId)' : partyId.join(', ')}`,
    ...(receivers === undefined ? [] : [`for       ${receivers.join(', ')}`]),
    ...keys.map((key, i) => `key       ${keyText(key, endpoint.keys?.[i]?.certificate ?? '')}`),
  ];
}

function keyText({ subject, notAfter, use, signs }: KeyFacts, file: string): string {
  const uses = [
    ...(signs ? ['signs Receipts'] : []),
    ...(use.includes('sign') && !signs ? ['signs no longer: a later one does'] : []),
    ...(use.includes('decrypt') ? ['decrypts'] : []),
  ].join(', ');
  return `${subject ?? `${file} (not read)`}${notAfter === undefined ? '' : `, valid to ${day(notAfter)}`}: ${uses}`;
}

/** What messages have to be, the same words for everybody and for a partner. */
export function securityTexts({ signature, encryption, party, allow, trust }: SecurityFacts): readonly string[] {
  return [
    `signature ${signature}`,
    `encryption ${encryption}`,
    party === 'commonName' ? 'From is the certificate\'s CN' : 'From is not compared with the certificate',
    ...(allow.length === 0 ? [] : [`outdated ${allow.join(' ')} accepted`]),
    ...(trust === undefined ? [] : [trustText(trust)]),
  ];
}

function trustText({ anchors, firstEnds, revocationLists }: NonNullable<SecurityFacts['trust']>): string {
  const ends = firstEnds === undefined ? '' : ` (the first ends ${day(firstEnds)})`;
  const lists = revocationLists === 0 ? '' : ` and ${revocationLists} revocation ${revocationLists === 1 ? 'list' : 'lists'}`;
  return `trust ${anchors} ${anchors === 1 ? 'anchor' : 'anchors'}${ends}${lists}`;
}

function day(time: string): string {
  return time.slice(0, 10);
}
