import { As4OnceError } from '../errors.js';
import { decode, isEncoding } from './decode.js';
import { XmlReader } from './reader.js';
import { TreeBuilder } from './tree-builder.js';
import type { XmlDocument } from './tree.js';

/**
 * The strict reading of one XML document into the tree of tree.ts: XML 1.0 with namespaces, UTF-8 or UTF-16, no DOCTYPE
 * and so no entities but the five of XML itself, no processing instructions in the root element (SOAP 1.2 part 1, 5;
 * SOAP 1.1, 3).
 */
export interface ParseOptions {
  /** Longest document, bytes. */
  readonly maxBytes: number;
  /** Deepest nesting; the root element is level 1. */
  readonly depth: number;
  /** Refuse two elements with one id. */
  readonly uniqueIds: boolean;
  /** `charset` of the media type the document came with, if any. */
  readonly charset?: string;
}

/**
 * Parses the bytes. Throws ROOT_TOO_LARGE, XML_BROKEN, XML_FORBIDDEN, XML_TOO_DEEP or DUPLICATE_ID, with line and
 * column in the detail where there is one.
 */
export function parseXml(bytes: Uint8Array, options: ParseOptions): XmlDocument {
  if (bytes.length > options.maxBytes) {
    throw new As4OnceError('ROOT_TOO_LARGE', `${bytes.length} bytes, at most ${options.maxBytes}`);
  }
  const source = decode(bytes);
  const reader = new XmlReader(source.text);
  const builder = new TreeBuilder(options, (what, code) => reader.fail(what, code));
  const declared = reader.read(builder);
  if (declared !== undefined && declared.version !== '1.0') {
    throw new As4OnceError('XML_BROKEN', `XML ${declared.version.slice(0, 40)}, SOAP is XML 1.0`);
  }
  const names = [declared?.encoding, options.charset].filter((named) => named !== undefined);
  const wrong = names.find((named) => !isEncoding(source, named));
  if (wrong !== undefined) {
    throw new As4OnceError('XML_BROKEN', `encoding '${wrong.slice(0, 40)}' but the bytes are ${source.encoding}`);
  }
  if (source.guessed && names.length === 0) {
    throw new As4OnceError('XML_BROKEN', `the bytes are ${source.encoding}, and neither a byte order mark nor a name says so`);
  }
  return builder.document();
}
