import { As4OnceError, type ErrorEntry } from '../errors.js';
import type { Identity } from '../security/keys.js';
import { contentTypeOf, messagingElement, signEnvelope, type SoapVersion } from '../security/sign.js';
import { attributeValue, characterData } from '../xml/canonical.js';
import { signalMessage } from './build-receipt.js';

export interface ErrorValues {
  readonly soap: SoapVersion;
  /** One of the table's entries that has an `ebms` code. */
  readonly entry: ErrorEntry;
  /** MessageId of this signal: fresh, `left@right`. */
  readonly messageId: string;
  /** xs:dateTime in UTC. */
  readonly timestamp: string;
  /** MessageId of the message in error, where it could be read. */
  readonly refToMessageId?: string;
  /** Goes out as ErrorDetail, so nothing that is the operator's alone. */
  readonly detail?: string;
}

/**
 * Builds a signed ebMS Error of severity failure (ebMS 3.0 Core 5.2.3.3 and 6.2; eDelivery AS4 1.15 has Errors signed).
 * Throws INTERNAL for an entry that has no ebMS code. Like its unsigned sister, it never says that a message is a
 * repetition.
 */
export async function buildError(
  values: ErrorValues, identity: Identity,
): Promise<{ readonly contentType: string; readonly body: Buffer }> {
  const { ebms } = values.entry;
  if (ebms === undefined) throw new As4OnceError('INTERNAL', 'an ebMS Error was asked for a code that has none');
  const short = ebms.short;
  const reference = values.refToMessageId === undefined
    ? '' : ` refToMessageInError="${attributeValue(values.refToMessageId)}"`;
  const detail = values.detail === undefined || values.detail === '' || /duplicat/i.test(values.detail) ? ''
    : `<eb:ErrorDetail>${characterData(legal(values.detail))}</eb:ErrorDetail>`;
  const error = `<eb:Error category="${ebms.category}" errorCode="${ebms.code}" origin="ebMS"${reference}`
   
      + ` severity="failure" shortDescription="${attributeValue(short)}">`
    + `<eb:Description xml:lang="en">${characterData(short)}</eb:Description>${detail}</eb:Error>`;
  const messaging = messagingElement(values.soap, signalMessage(values, error));
  const body = await signEnvelope(values.soap, messaging, identity);
  return { contentType: contentTypeOf(values.soap), body };
}

/** Characters that XML 1.0 cannot hold become U+FFFD. */
function legal(value: string): string {
  return value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}
