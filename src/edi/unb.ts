import { EdiBroken, type Place } from './broken.js';
import { textOf, type Elements } from './elements.js';

/** What UNB says (ISO 9735-1, annex C): the interchange's names. */
export interface Unb {
  readonly syntaxId: string;
  readonly syntaxVersion?: string;
  readonly sender: string;
  readonly senderQualifier?: string;
  readonly senderInternal?: string;
  readonly recipient: string;
  readonly recipientQualifier?: string;
  readonly recipientInternal?: string;
  readonly date?: string;
  readonly time?: string;
  /** Interchange control reference, 0020. */
  readonly controlRef: string;
  readonly applicationRef?: string;
  /** Test indicator, 0035, as sent. */
  readonly testIndicator?: string;
}

/** Element and component of each value. */
const WHERE: Readonly<Record<keyof Unb, readonly [element: number, component: number]>> = {
  syntaxId: [1, 0], syntaxVersion: [1, 1],
  sender: [2, 0], senderQualifier: [2, 1], senderInternal: [2, 2],
  recipient: [3, 0], recipientQualifier: [3, 1], recipientInternal: [3, 2],
  date: [4, 0], time: [4, 1],
  controlRef: [5, 0], applicationRef: [7, 0], testIndicator: [11, 0],
};

const NAMES = { syntaxId: 'syntax identifier (0001)', sender: 'sender (0004)', recipient: 'recipient (0010)', controlRef: 'interchange control reference (0020)' };

/** Reads UNB; throws where a value that names the interchange is missing. */
export function readUnb(elements: Elements, place: Place): Unb {
  const syntaxId = textOf(elements.value(1, 0) ?? '', 'UNOA', place);
  const values: Partial<Record<keyof Unb, string>> = {};
  for (const [name, [element, component]] of Object.entries(WHERE) as [keyof Unb, readonly [number, number]][]) {
    const bytes = elements.value(element, component);
    if (bytes !== undefined && bytes !== '') values[name] = textOf(bytes, syntaxId, place);
  }
  const missing = (Object.keys(NAMES) as (keyof typeof NAMES)[]).filter((name) => (values[name] ?? '').trim() === '');
  if (missing.length > 0) throw new EdiBroken(`UNB has no ${missing.map((name) => NAMES[name]).join(', no ')}`, place);
  if (values.syntaxVersion !== undefined && !/^\d$/.test(values.syntaxVersion)) {
    throw new EdiBroken(`UNB names the syntax version '${values.syntaxVersion}'`, place);
  }
  const { sender = '', recipient = '', controlRef = '', ...others } = values;
  return { ...others, syntaxId, sender, recipient, controlRef };
}
