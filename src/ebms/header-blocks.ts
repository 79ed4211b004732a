import { attribute, type XmlElement } from '../xml/tree.js';
import { trim } from './elements.js';
import { NS } from './namespaces.js';
import type { Envelope } from './units.js';

/**
 * Roles in which an MSH that a message ends at reads a header block: none named, the last receiver, any node (SOAP 1.2
 * part 1, 2.2; SOAP 1.1, 4.2.2), and the next MSH (ebMS part 2, 2.4). A block for anybody else is not looked at.
 */
const OURS: ReadonlySet<string> = new Set([
  '',
  `${NS.soap12}/role/ultimateReceiver`,
  `${NS.soap12}/role/next`,
  'http://schemas.xmlsoap.org/soap/actor/next',
  'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/part2/200811/nextmsh',
]);

/** Header blocks that are addressed to us, in document order. */
function blocks({ header, soap }: Pick<Envelope, 'header' | 'soap'>): XmlElement[] {
  const [uri, role] = soap === '1.2' ? [NS.soap12, 'role'] as const : [NS.soap11, 'actor'] as const;
  return (header?.children ?? []).filter((node): node is XmlElement =>
    node.kind === 'element' && OURS.has(trim(attribute(node, uri, role) ?? '')));
}

/** The wsse:Security headers that are addressed to us; WS-Security 1.1, 5 allows one for each role. */
export function securityHeaders(envelope: Pick<Envelope, 'header' | 'soap'>): XmlElement[] {
  return blocks(envelope).filter((block) => block.uri === NS.wsse && block.local === 'Security');
}

/**
 * A block for us that must be understood and that AS4 knows nothing of: a message with one must not be processed (SOAP
 * 1.2 part 1, 2.6; SOAP 1.1, 4.2.3).
 */
export function notUnderstood(envelope: Pick<Envelope, 'header' | 'soap'>): XmlElement | undefined {
  const soap = envelope.soap === '1.2' ? NS.soap12 : NS.soap11;
  return blocks(envelope).find((block) => {
    const known = (block.uri === NS.eb && block.local === 'Messaging') || (block.uri === NS.wsse && block.local === 'Security');
    return !known && /^(1|true)$/.test(trim(attribute(block, soap, 'mustUnderstand') ?? ''));
  });
}
