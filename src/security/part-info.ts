import { trim } from '../ebms/elements.js';
import type { PartInfo, UserMessage } from '../ebms/units.js';
import { As4OnceError } from '../errors.js';
import { comparableId, isCid } from '../mime/content-type.js';

/** What a PartInfo promises about its payload (ebMS Core 5.2.2.12 and 13, AS4 3.1). */
export interface PayloadPlan {
  /** As written, without white space around it (an xs:token); absent for the SOAP Body, `#id` for an element in it. */
  readonly href?: string;
  /** Set for an attachment. */
  readonly contentId?: string;
  readonly compressed: boolean;
  /** Media type of the payload itself, where the sender says it. */
  readonly mimeType?: string;
  readonly characterSet?: string;
  readonly properties: PartInfo['properties'];
}

const GZIP = 'application/gzip';
/** Encoding names of XML 1.0, 4.3.3. */
const ENCODING_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,39}$/;

/**
 * Reads the PartInfos. Throws EXTERNAL_PAYLOAD for a payload that is not in the package, DECOMPRESSION_FAILED for one
 * with another compression, VALUE_INCONSISTENT for a compressed one without MimeType and for a character set that is none.
 */
export function payloadPlans(message: UserMessage): readonly PayloadPlan[] {
  return message.payloads.map((part) => {
    const href = part.href === undefined ? undefined : trim(part.href);
    const attached: boolean = isCid(href);
    if (href !== undefined && !attached && !href.startsWith('#')) {
      throw new As4OnceError('EXTERNAL_PAYLOAD', href.slice(0, 200));
    }
    const mimeType = property(part, 'MimeType');
    const compression = property(part, 'CompressionType') ?? '';
    const characterSet = property(part, 'CharacterSet');
    const name = href ?? 'the SOAP Body';
    if (compression !== '' && (compression !== GZIP || !attached)) {
      const detail = `${name.slice(0, 200)}: CompressionType ${compression.slice(0, 80)}`;
      throw new As4OnceError('DECOMPRESSION_FAILED', detail);
    }
    if (compression !== '' && (mimeType ?? '') === '') {
      throw new As4OnceError('VALUE_INCONSISTENT', `${name.slice(0, 200)} is compressed and has no MimeType`);
    }
    if (characterSet !== undefined && !ENCODING_NAME.test(characterSet)) {
      throw new As4OnceError('VALUE_INCONSISTENT', `CharacterSet ${characterSet.slice(0, 80)}`);
    }
    return {
      properties: part.properties, compressed: compression !== '',
      ...(href === undefined ? {} : { href }),
      ...(attached && href !== undefined ? { contentId: comparableId(href) } : {}),
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(characterSet === undefined ? {} : { characterSet }),
    };
  });
}

/**
 * A property that is given twice with two values is nobody's. Names are compared without case, as products spell them.
 */
function property(part: PartInfo, name: string): string | undefined {
  const values = part.properties.filter((p) => p.name.toLowerCase() === name.toLowerCase()).map((p) => p.value);
  if (new Set(values).size > 1) {
    throw new As4OnceError('VALUE_INCONSISTENT', `two values for the part property ${name}`);
  }
  return values[0];
}
