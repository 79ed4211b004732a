import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import { child, children, text } from '../xml/tree.js';
import type { XmlElement } from '../xml/tree.js';
import { parseXml } from '../xml/parse.js';
import { only, present } from './elements.js';
import { NS } from './namespaces.js';
import { readSignalMessage } from './signal-message.js';
import { readSignatures } from './signature-info.js';
import type { Envelope, SignalMessage } from './units.js';
import { readUserMessage } from './user-message.js';

export interface EnvelopeOptions {
  /** `charset` of the root part's media type, if it names one. */
  readonly charset?: string;
  /** False: two elements may carry one Id; neither is found by it then. Default true. */
  readonly uniqueIds?: boolean;
}

/** How the detail of HEADER_INVALID begins where the document is well-formed but no SOAP envelope. */
export const NO_ENVELOPE = 'no SOAP envelope';

/**
 * Reads a SOAP 1.1 or 1.2 envelope and the message units of its eb:Messaging header, strictly: what two receivers could
 * read differently is refused. An envelope without eb:Messaging (a SOAP Fault, say) reads as one without units.
 *
 * Throws ROOT_TOO_LARGE, XML_BROKEN, XML_FORBIDDEN, XML_TOO_DEEP, DUPLICATE_ID; HEADER_INVALID where the document is no
 * SOAP envelope, or eb:Messaging stands twice, is empty, holds two UserMessages or one without MessageId;
 * MESSAGE_ID_INVALID, PARTY_ID_INVALID.
 */
export function readEnvelope(bytes: Uint8Array, limits: Limits, options: EnvelopeOptions = {}): Envelope {
  const document = parseXml(bytes, { maxBytes: limits.rootPart, depth: limits.depth, uniqueIds: true, ...options });
  const root = document.root;
  const soap = root.uri === NS.soap12 ? '1.2' : root.uri === NS.soap11 ? '1.1' : undefined;
  if (soap === undefined || root.local !== 'Envelope') {
    throw new As4OnceError('HEADER_INVALID', `${NO_ENVELOPE} (root ${root.local.slice(0, 80)})`);
  }
  const header = only(root, 'Header', root.uri);
  const body = only(root, 'Body', root.uri);
  const messaging = header && only(header, 'Messaging');
  return present<Envelope>({
    soap,
    document,
    messaging,
    ...(messaging === undefined ? { userMessage: undefined, signals: [] } : readUnits(messaging, limits)),
    signatures: readSignatures(header, document),
    header,
    body,
    bodyEncrypted: body !== undefined && child(body, NS.xenc, 'EncryptedData') !== undefined,
    fault: body && readFault(body),
  });
}

function readUnits(messaging: XmlElement, limits: Limits): Pick<Envelope, 'userMessage' | 'signals'> {
  const users = children(messaging, NS.eb, 'UserMessage');
  const signals: SignalMessage[] = children(messaging, NS.eb, 'SignalMessage').map((s) => readSignalMessage(s, limits));
  // ebMS Core 5.2.4 allows one UserMessage, though the schema allows any number.
  if (users.length > 1) throw new As4OnceError('HEADER_INVALID', 'more than one UserMessage');
  if (users.length + signals.length === 0) throw new As4OnceError('HEADER_INVALID', 'eb:Messaging holds no message');
  const [user] = users;
  return user === undefined ? { signals } : { userMessage: readUserMessage(user, limits), signals };
}

/** Text of a SOAP Fault's reason (1.2: Reason/Text, 1.1: faultstring). */
function readFault(body: XmlElement): string | undefined {
  const fault = child(body, body.uri, 'Fault');
  if (fault === undefined) return undefined;
  const reason = child(fault, body.uri, 'Reason');
  const told = (reason && child(reason, body.uri, 'Text')) ?? child(fault, '', 'faultstring');
  return told === undefined ? '' : text(told);
}
