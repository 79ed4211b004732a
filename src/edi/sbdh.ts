import { As4OnceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { XmlStream, type XmlEvents, type XmlTag } from './sbdh-stream.js';

/** Namespace of the Standard Business Document Header (UN/CEFACT SBDH 1.3; Peppol business message envelope). */
export const SBDH = 'http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader';
/** Authority of a participant identifier in Peppol, whose envelope has rules of its own. */
const PEPPOL_AUTHORITY = 'iso6523-actorid-upis';
const UBL_BASIC = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2';

export interface Partner {
  readonly authority?: string;
  readonly value: string;
}

export interface Scope {
  readonly type: string;
  readonly instanceIdentifier: string;
  /** The scheme of the value. */
  readonly identifier?: string;
}

/** The document inside an envelope, or the whole file. */
export interface Payload {
  readonly name: string;
  readonly namespace?: string;
  /** cbc:ID, cbc:IssueDate and cbc:UUID directly below the root of a UBL document. */
  readonly ID?: string;
  readonly IssueDate?: string;
  readonly UUID?: string;
}

export interface SbdHeader {
  readonly headerVersion: string;
  readonly sender: Partner;
  readonly receiver: Partner;
  readonly standard: string;
  readonly typeVersion: string;
  /** DocumentIdentification/InstanceIdentifier: names this document; a Scope's element of the same name does not. */
  readonly instanceIdentifier: string;
  readonly type: string;
  readonly creationDateAndTime: string;
  readonly scopes: readonly Scope[];
}

export interface BusinessDocument {
  readonly root: string;
  readonly rootNamespace?: string;
  /** Absent where the file is a business document without SBDH. */
  readonly header?: SbdHeader;
  readonly payload: Payload;
  /** Elements of that name in the whole header, of which only one names the document. */
  readonly instanceIdentifierOccurrences: number;
}

/** Scopes of one header; Peppol uses fewer than ten. */
const MOST_SCOPES = 1_000;
const ONCE = ['HeaderVersion', 'Standard', 'TypeVersion', 'InstanceIdentifier', 'Type', 'CreationDateAndTime'] as const;
type Once = (typeof ONCE)[number];
/** What names neither document nor parties: the schema (xs:string) lets it be empty, and writers leave it so. */
const MAY_BE_EMPTY = new Set<Once>(['HeaderVersion', 'Standard', 'TypeVersion', 'Type']);
const ABOVE: Readonly<Record<Once, string>> = {
  HeaderVersion: 'StandardBusinessDocumentHeader',
  Standard: 'DocumentIdentification', TypeVersion: 'DocumentIdentification', InstanceIdentifier: 'DocumentIdentification',
  Type: 'DocumentIdentification', CreationDateAndTime: 'DocumentIdentification',
};

/**
 * Reads a Standard Business Document, or a bare business document, while it arrives. The header stands before the
 * document, or is the first child of the document's own root (GS1 XML 3). One that is incomplete, ambiguous or invalid
 * is refused: SBDH_BROKEN. Nothing is known before `end`, since the document may break off.
 */
export class BusinessDocumentReader implements XmlEvents {
  readonly #xml: XmlStream;
  readonly #path: string[] = [];
  #root: XmlTag | undefined;
  #headers = 0;
  #inHeader = false;
  /** A child of the root has opened. */
  #childSeen = false;
  #payloads = 0;
  #payload: { name: string; namespace?: string; ID?: string; IssueDate?: string; UUID?: string } | undefined;
  #payloadDepth = 0;
  #value: ((text: string) => void) | undefined;
  readonly #once = new Map<Once, string>();
  readonly #partners = { Sender: [] as Partner[], Receiver: [] as Partner[] };
  #partnerCounts = { Sender: 0, Receiver: 0 };
  readonly #scopes: { type: string; instanceIdentifier: string; identifier?: string }[] = [];
  #occurrences = 0;

  constructor(limits: { readonly depth: number } = LIMITS) {
    this.#xml = new XmlStream(this, limits.depth);
  }

  push(chunk: Uint8Array): void {
    this.#xml.push(chunk);
  }

  /** A header has begun, or the root's name promises one. */
  get headed(): boolean {
    return this.#headers > 0 || this.#root?.local.startsWith('StandardBusinessDocument') === true;
  }

  /**
   * The header, as soon as it has ended and the business message has begun; `none` where the document has none, which
   * its root's first child tells; undefined before. For whoever leaves the document itself to its application. Throws
   * like `end`.
   */
  get early(): SbdHeader | 'none' | undefined {
    if (this.#payloads === 0 || !this.#childSeen || this.#inHeader) return undefined;
    return this.#enveloped() || this.#headers > 0 ? this.#header() : 'none';
  }

  end(): BusinessDocument {
    this.#xml.end();
    const root = this.#root;
    if (root === undefined) throw new As4OnceError('SBDH_BROKEN', 'no root element');
    const named = { root: root.local, ...(root.uri === '' ? {} : { rootNamespace: root.uri }) };
    if (root.local === 'StandardBusinessDocumentHeader') {
      throw new As4OnceError('SBDH_BROKEN', 'a StandardBusinessDocumentHeader alone, without its document');
    }
    const header = this.#enveloped() || this.#headers > 0 ? this.#header() : undefined;
    if (this.#payloads > 1) throw new As4OnceError('SBDH_BROKEN', 'more than one business message');
    if (this.#payload === undefined) throw new As4OnceError('SBDH_BROKEN', 'no business message');
    return { ...named, ...(header === undefined ? {} : { header }), payload: this.#payload, instanceIdentifierOccurrences: this.#occurrences };
  }

  open(tag: XmlTag, depth: number): boolean {
    this.#path.length = depth - 1;
    this.#path.push(tag.local);
    if (depth === 1) {
      this.#root = tag;
      if (tag.local !== 'StandardBusinessDocument' && tag.local !== 'StandardBusinessDocumentHeader') {
        this.#openPayload(tag, depth);
      }
      return false;
    }
    if (this.#inHeader) return tag.uri === SBDH && this.#insideHeader(tag, this.#path[depth - 2] ?? '', depth);
    if (depth > 2) return this.#insidePayload(tag, depth);
    const first = !this.#childSeen;
    this.#childSeen = true;
    if (this.#isHeader(tag, first)) {
      if (!first) throw new As4OnceError('SBDH_BROKEN', 'a second or late StandardBusinessDocumentHeader');
      this.#headers += 1;
      this.#inHeader = true;
      return false;
    }
    if (this.#payloadDepth === 1) return this.#insidePayload(tag, depth);
    this.#openPayload(tag, depth);
    return false;
  }

  /** Later children of a document's own root are its content, whatever they are called, unless a header came before them. */
  #isHeader({ local, uri }: XmlTag, first: boolean): boolean {
    if (uri !== SBDH || local !== 'StandardBusinessDocumentHeader') return false;
    return first || this.#payloadDepth !== 1 || this.#headers > 0;
  }

  /** The root is an envelope and not a business message. */
  #enveloped(): boolean {
    if (this.#root?.local !== 'StandardBusinessDocument') return false;
    if (this.#root.uri === SBDH) return true;
    throw new As4OnceError('SBDH_BROKEN', `StandardBusinessDocument is in the namespace '${this.#root.uri.slice(0, 200)}'`);
  }

  closed(text: string, depth: number): void {
    this.#value?.(text.trim());
    this.#value = undefined;
    this.left(depth);
  }

  left(depth: number): void {
    if (depth === 2) this.#inHeader = false;
    if (depth === this.#payloadDepth) this.#payloadDepth = 0;
  }

  #openPayload(tag: XmlTag, depth: number): void {
    this.#payloads += 1;
    this.#payloadDepth = depth;
    this.#payload ??= { name: tag.local, ...(tag.uri === '' ? {} : { namespace: tag.uri }) };
  }

  #insidePayload(tag: XmlTag, depth: number): boolean {
    const { local } = tag;
    const payload = this.#payload;
    if (depth !== this.#payloadDepth + 1 || tag.uri !== UBL_BASIC || payload === undefined || this.#payloads > 1) {
      return false;
    }
    if ((local !== 'ID' && local !== 'IssueDate' && local !== 'UUID') || payload[local] !== undefined) return false;
    this.#value = (text) => {
      payload[local] = text;
    };
    return true;
  }

  #insideHeader(tag: XmlTag, parent: string, depth: number): boolean {
    const { local } = tag;
    if (local === 'InstanceIdentifier') this.#occurrences += 1;
    if (depth === 3 && (local === 'Sender' || local === 'Receiver')) this.#partnerCounts[local] += 1;
    if (depth === 4 && local === 'Identifier' && (parent === 'Sender' || parent === 'Receiver')) {
      const authority = tag.attribute('Authority');
      this.#value = (value) => this.#partners[parent].push({ ...(authority === undefined ? {} : { authority }), value });
      return true;
    }
    if (depth === 4 && local === 'Scope' && parent === 'BusinessScope') {
      if (this.#scopes.length >= MOST_SCOPES) throw new As4OnceError('SBDH_BROKEN', `more than ${MOST_SCOPES} scopes`);
      this.#scopes.push({ type: '', instanceIdentifier: '' });
      return false;
    }
    if (depth === 5 && parent === 'Scope') return this.#insideScope(local);
    const once = ONCE.find((name) => name === local && ABOVE[name] === parent && depth === (name === 'HeaderVersion' ? 3 : 4));
    if (once === undefined) return false;
    if (this.#once.has(once)) throw new As4OnceError('SBDH_BROKEN', `two ${once} elements`);
    this.#once.set(once, '');
    this.#value = (text) => this.#once.set(once, text);
    return true;
  }

  #insideScope(local: string): boolean {
    const scope = this.#scopes.at(-1);
    const name = local === 'Type' ? 'type' : local === 'InstanceIdentifier' ? 'instanceIdentifier' : local === 'Identifier' ? 'identifier' : undefined;
    if (scope === undefined || name === undefined) return false;
    this.#value = (text) => {
      scope[name] = text;
    };
    return true;
  }

  #header(): SbdHeader {
    if (this.#headers === 0) throw new As4OnceError('SBDH_BROKEN', 'no StandardBusinessDocumentHeader');
    const value = (name: Once): string => {
      const text = this.#once.get(name);
      if (text === undefined || (text === '' && !MAY_BE_EMPTY.has(name))) {
        throw new As4OnceError('SBDH_BROKEN', `${name} is ${text === undefined ? 'missing' : 'empty'}`);
      }
      return text;
    };
    const [sender, receiver] = [this.#partner('Sender'), this.#partner('Receiver')];
    const headerVersion = value('HeaderVersion');
    // 1.0 is the rule of Peppol's envelope; the standard lets it be any string
    if (headerVersion !== '1.0' && [sender, receiver].some(({ authority }) => authority === PEPPOL_AUTHORITY)) {
      throw new As4OnceError('SBDH_BROKEN', `HeaderVersion '${headerVersion.slice(0, 40)}' instead of 1.0`);
    }
    const creationDateAndTime = value('CreationDateAndTime');
    if (!isDateTime(creationDateAndTime)) throw new As4OnceError('SBDH_BROKEN', 'CreationDateAndTime is no date and time');
    const instanceIdentifier = value('InstanceIdentifier');
    if (Buffer.byteLength(instanceIdentifier) > LIMITS.messageId) {
      throw new As4OnceError('SBDH_BROKEN', `InstanceIdentifier is longer than ${LIMITS.messageId} bytes`);
    }
    return {
      headerVersion, creationDateAndTime, instanceIdentifier, sender, receiver,
      standard: value('Standard'), typeVersion: value('TypeVersion'), type: value('Type'),
      scopes: this.#scopes,
    };
  }

  #partner(role: 'Sender' | 'Receiver'): Partner {
    const count = this.#partnerCounts[role];
    if (count !== 1) {
      throw new As4OnceError('SBDH_BROKEN', `${count === 0 ? 'no' : count} ${role} elements, there must be one`);
    }
    const [partner, ...others] = this.#partners[role];
    if (partner === undefined || others.length > 0) {
      throw new As4OnceError('SBDH_BROKEN', `${role} must hold one Identifier`);
    }
    if (partner.value === '') throw new As4OnceError('SBDH_BROKEN', `the Identifier of ${role} is empty`);
    if (partner.authority === '') throw new As4OnceError('SBDH_BROKEN', `the Authority of ${role} is empty`);
    if (Buffer.byteLength(partner.value) > LIMITS.partyId) {
      throw new As4OnceError('SBDH_BROKEN', `the Identifier of ${role} is longer than ${LIMITS.partyId} bytes`);
    }
    return partner;
  }
}

const DATE_TIME = /^-?\d{4,9}-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,40})?(?:Z|[+-]\d\d:\d\d)?$/;

/** xs:dateTime (XML Schema part 2, 3.2.7), without leap-year arithmetic. */
function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (match === null) return false;
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 24 && minute <= 59 && second <= 59;
}

/** The same in the field names of the corpus, for `as4-once read`. */
export function describeSbdh(bytes: Uint8Array): Record<string, unknown> {
  const reader = new BusinessDocumentReader();
  reader.push(bytes);
  const { header, payload, root, rootNamespace, instanceIdentifierOccurrences } = reader.end();
  const base = { wellFormed: true, root, ...(rootNamespace === undefined ? {} : { rootNamespace }), hasSBDH: header !== undefined };
  if (header === undefined) return { ...base, payload };
  const { sender, receiver, scopes, ...named } = header;
  return {
    ...base, ...named, senders: [sender], receivers: [receiver],
    ...(scopes.length === 0 ? {} : { scopes: scopes.map(({ type, instanceIdentifier }) => [type, instanceIdentifier]) }),
    instanceIdentifierOccurrences, payload,
    ...(header.headerVersion === '1.0' ? {} : { note: `HeaderVersion '${header.headerVersion}': the standard allows any, Peppol only 1.0` }),
  };
}
