import type { Place } from './broken.js';
import { textOf, type Elements } from './elements.js';
import type { Acknowledgement } from './interchange.js';

export type Contrl = Extract<Acknowledgement, { kind: 'CONTRL' }>;

/**
 * UCI of a CONTRL message (ISO 9735-4): which interchange is answered, and how. 0083 is 4 where the whole interchange
 * was rejected; 7 and 8 say that it arrived. What UCM says of single messages does not decide about the interchange.
 */
export function readUci(elements: Elements, syntaxId: string, place: Place): Contrl {
  const text = (element: number, component = 0): string => textOf(elements.value(element, component) ?? '', syntaxId, place);
  const senderQualifier = text(2, 1);
  const recipientQualifier = text(3, 1);
  const action = text(4);
  const error = text(5);
  return {
    kind: 'CONTRL',
    verdict: action === '4' ? 'negative' : 'positive',
    controlRef: text(1),
    sender: text(2),
    ...(senderQualifier === '' ? {} : { senderQualifier }),
    recipient: text(3),
    ...(recipientQualifier === '' ? {} : { recipientQualifier }),
    action,
    ...(error === '' ? {} : { error }),
  };
}
