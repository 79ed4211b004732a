import { isCid } from '../mime/content-type.js';
import type { XmlElement } from '../xml/tree.js';
import { ATTACHMENT, DIGESTS, EXCLUSIVE, HASH_OCTETS, NS, SIGNATURES, type HashName } from './algorithms.js';
import { refusal, type SecurityRefusal } from './refusal.js';

/** One ds:Reference, read strictly. */
export interface SignedReference {
  /** Exactly as written: `#id` or `cid:…`. */
  readonly uri: string;
  readonly transform: 'exclusive' | 'attachmentContent' | 'attachmentComplete';
  /** PrefixList of the exclusive transform. */
  readonly prefixes: readonly string[];
  readonly digestMethod: string;
  readonly hash: HashName;
  readonly digest: Uint8Array;
}

/** A ds:Signature, read strictly: every element is where the schema puts it and nothing else is there. */
export interface ReadSignature {
  readonly signedInfo: XmlElement;
  readonly prefixes: readonly string[];
  readonly method: string;
  readonly hash: HashName;
  readonly references: readonly SignedReference[];
  readonly value: Uint8Array;
  readonly keyInfo: XmlElement;
}

class Malformed extends Error {
  readonly refusal: SecurityRefusal;
  constructor(refused: SecurityRefusal) {
    super(refused.detail);
    this.refusal = refused;
  }
}

const fail = (detail: string): never => {
  throw new Malformed(refusal('malformed', detail));
};

/**
 * Reads a ds:Signature (XML Signature 1.1, 4). Nothing is searched for: each child is taken from its place, so that a
 * decoy elsewhere is never read. `maxReferences` bounds the work before any of it is done.
 */
export function readSignature(signature: XmlElement, maxReferences: number): ReadSignature | SecurityRefusal {
  try {
    return read(signature, maxReferences);
  } catch (error) {
    if (error instanceof Malformed) return error.refusal;
    throw error;
  }
}

function read(signature: XmlElement, maxReferences: number): ReadSignature {
  const [signedInfo, value, keyInfo, ...rest] = elements(signature);
  if (!is(signedInfo, 'SignedInfo') || !is(value, 'SignatureValue') || !is(keyInfo, 'KeyInfo') || rest.length > 0) {
    return fail('ds:Signature is not SignedInfo, SignatureValue and KeyInfo');
  }
  const [c14n, method, ...found] = elements(signedInfo);
  if (!is(c14n, 'CanonicalizationMethod') || !is(method, 'SignatureMethod') || found.length === 0) {
    return fail('ds:SignedInfo is not CanonicalizationMethod, SignatureMethod and References');
  }
  if (found.length > maxReferences) {
    const detail = `${found.length} references, the message has ${maxReferences} things to sign`;
    throw new Malformed(refusal('referenceSet', detail));
  }
  if (algorithmOf(c14n) !== EXCLUSIVE) throw unknown('canonicalization', c14n);
  const hash = SIGNATURES.get(algorithmOf(method));
  if (hash === undefined || elements(method).length > 0) throw unknown('signature', method);
  return {
    signedInfo, keyInfo, hash,
    prefixes: prefixList(c14n),
    method: algorithmOf(method),
    references: found.map(readReference),
    // what is not base64 is no signature, and is told as such after the digests were looked at
    value: base64Of(value) ?? new Uint8Array(),
  };
}

function readReference(reference: XmlElement): SignedReference {
  const [transforms, method, value, ...rest] = elements(reference);
  if (!is(reference, 'Reference') || !is(transforms, 'Transforms') || !is(method, 'DigestMethod')
    || !is(value, 'DigestValue') || rest.length > 0) {
    return fail('ds:Reference is not Transforms, DigestMethod and DigestValue');
  }
  const uri = plainAttribute(reference, 'URI') ?? fail('ds:Reference without URI');
  const [transform, ...more] = elements(transforms);
  if (!is(transform, 'Transform') || more.length > 0) return fail(`${uri} has not exactly one transform`);
  const kind = transformOf(transform, isCid(uri));
  const hash = DIGESTS.get(algorithmOf(method));
  if (hash === undefined || elements(method).length > 0) throw unknown('digest', method);
  const digest = base64Of(value);
  if (digest?.length !== HASH_OCTETS[hash]) return fail(`DigestValue of ${uri} is not a ${hash} digest`);
  const prefixes = kind === 'exclusive' ? prefixList(transform) : [];
  return { uri, transform: kind, hash, digest, digestMethod: algorithmOf(method), prefixes };
}

function transformOf(transform: XmlElement, attachment: boolean): SignedReference['transform'] {
  const algorithm = algorithmOf(transform);
  if (!attachment && algorithm === EXCLUSIVE) return 'exclusive';
  if (attachment && algorithm === ATTACHMENT.contentSignature) return 'attachmentContent';
  if (attachment && algorithm === ATTACHMENT.completeSignature) return 'attachmentComplete';
  throw unknown('transform', transform);
}

const unknown = (what: string, element: XmlElement): Malformed =>
  new Malformed(refusal('algorithm', `${what} ${algorithmOf(element).slice(0, 200)} is not allowed here`));

/** Child elements; anything else but white space (a comment, text) is refused. */
function elements(parent: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (const node of parent.children) {
    if (node.kind === 'element') found.push(node);
    else if (node.kind === 'comment') throw new Malformed(refusal('comment', `comment in ${parent.name}`));
    else if (node.value.trim() !== '') fail(`text in ${parent.name}`);
  }
  return found;
}

function is(element: XmlElement | undefined, local: string): element is XmlElement {
  return element?.uri === NS.ds && element.local === local;
}

function plainAttribute(element: XmlElement, name: string): string | undefined {
  return element.attributes.find((a) => a.uri === '' && a.local === name)?.value;
}

const algorithmOf = (element: XmlElement): string => plainAttribute(element, 'Algorithm') ?? '';

function prefixList(element: XmlElement): readonly string[] {
  const [list, ...more] = elements(element);
  if (list === undefined) return [];
  if (list.uri !== NS.ec || list.local !== 'InclusiveNamespaces' || more.length > 0) {
    return fail(`child of ${element.name}`);
  }
  return (plainAttribute(list, 'PrefixList') ?? '').split(/\s+/).filter((p) => p !== '');
}

/** Character data that must be nothing else: undefined where there is an element or a comment in it. */
export function leafText(element: XmlElement): string | undefined {
  return element.children.every((n) => n.kind === 'text') ? element.children.map((n) => n.value).join('') : undefined;
}

/** Base64 with white space, and nothing but base64; undefined otherwise. */
export function base64Of(element: XmlElement): Uint8Array | undefined {
  const written = leafText(element)?.replace(/[\s]+/g, '');
  if (written === undefined || written.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(written)) return undefined;
  return Buffer.from(written, 'base64');
}
