import { hash as oneShot } from 'node:crypto';
import type { Fingerprint } from '../message.js';
import { comparableId, isCid } from '../mime/content-type.js';
import { canonicalize } from '../xml/canonical.js';
import { attribute, child } from '../xml/tree.js';
import type { XmlNode } from '../xml/tree.js';
import { encryptedAttachments, readEncryption } from './encryption-info.js';
import { NS } from './namespaces.js';
import type { DigestReference, Envelope, UserMessage } from './units.js';

/**
 * The content of a message as far as it survives an honest retry. Senders sign, encrypt and stamp every attempt anew:
 * wsu:Ids, cid: URIs, Timestamps, the digests of Messaging and Body and all ciphertext change, while the signed digests
 * of the attachments, which AS4 3.2 obliges a retry to keep, do not.
 */

/** Content of the MIME parts behind the root: one SHA-256 each, over the decoded bytes, in order. */
export type PartDigests = readonly Uint8Array[];

type Plan = 'signed' | 'opaque' | 'content';

/**
 * The fingerprint as soon as the root part is read, if the parts behind it cannot change it; undefined where they have
 * to be read first.
 */
export function earlyFingerprint(envelope: Envelope): Fingerprint | undefined {
  const user = envelope.userMessage;
  if (user === undefined) return undefined;
  const plan = planFor(envelope, user);
  if (plan === 'signed') return signed(envelope);
  return plan === 'opaque' ? opaque(envelope, user) : undefined;
}

/** The fingerprint of a whole message. `envelope` must hold a UserMessage. */
export function fingerprint(envelope: Envelope, parts: PartDigests): Fingerprint {
  const user = envelope.userMessage!;
  const early = earlyFingerprint(envelope);
  if (early !== undefined) return early;
  const body = bodyForm(envelope);
  if (parts.length === 0 && body === '') {
    // Nothing in hand but references to elsewhere: those are part of what is asked for.
    return `header:${hash('header', ...headerForm(user), ...externalHrefs(user))}`;
  }
  return `plain:${hash('plain', body, ...parts)}`;
}

/**
 * `signed` where every attachment the header lists is in the signature, and there is content to speak of; `opaque`
 * where ciphertext stands that no signed digest covers, since an honest retry encrypts anew.
 */
function planFor(envelope: Envelope, user: UserMessage): Plan {
  const signedIds = new Set(cidReferences(allReferences(envelope)).map((r) => comparableId(r.uri)));
  const listed = user.payloads.flatMap((p) => (isCid(p.href) ? [comparableId(p.href)] : []));
  const covered = listed.every((id) => signedIds.has(id)) && !user.payloads.some((p) => isExternal(p.href));
  if (envelope.bodyEncrypted) return 'opaque';
  if (envelope.signatures.length > 0 && covered && (signedIds.size > 0 || bodyForm(envelope) !== '')) return 'signed';
  const encrypted = encryptedAttachments(readEncryption(envelope));
  const open = encrypted.size > 0 && [...encrypted].some((id) => !signedIds.has(id));
  return open ? 'opaque' : 'content';
}

function signed(envelope: Envelope): Fingerprint {
  const body = bodyForm(envelope);
  const cids = `signed:${cidHash(allReferences(envelope))}`;
  return body === '' ? cids : `${cids}.${hash('body', body)}`;
}

function opaque(envelope: Envelope, user: UserMessage): Fingerprint {
  const references = allReferences(envelope);
  const digests = cidReferences(references).length === 0 ? '' : cidHash(references);
  return `opaque:${hash('opaque', ...headerForm(user), digests, ...envelope.signatures.map(signerOf))}`;
}

/**
 * Hash of the multiset of (algorithm, digest bytes) of the `cid:` references; their URIs and order do not count. The
 * same for a message's signature and for the Receipt that repeats its references. A reference that two signatures of
 * one message both make counts once.
 */
export function cidHash(references: readonly DigestReference[]): string {
  const entries = new Map<string, Buffer>();
  for (const r of cidReferences(references)) {
    const entry = tuple(r.digestMethod, digestBytes(r.digestValue));
    entries.set(`${comparableId(r.uri)} ${entry.toString('latin1')}`, entry);
  }
  return hash('cid', ...[...entries.values()].sort(Buffer.compare));
}

/** `signed:<cid>`: what a Receipt's NonRepudiationInformation says of the content; none without `cid:` references. */
export function fingerprintFromReceipt(nri: readonly DigestReference[]): Fingerprint | undefined {
  return cidReferences(nri).length === 0 ? undefined : `signed:${cidHash(nri)}`;
}

/** The `signed:<cid>` part of a fingerprint, to compare a Receipt's with; undefined for the other kinds. */
export function cidPart(of: Fingerprint): Fingerprint | undefined {
  return of.startsWith('signed:') ? of.split('.', 1)[0] : undefined;
}

function allReferences(envelope: Envelope): DigestReference[] {
  return envelope.signatures.flatMap((s) => s.references);
}

function cidReferences(references: readonly DigestReference[]): DigestReference[] {
  return references.filter((r) => isCid(r.uri));
}

/** A URL to somewhere outside the package (eDelivery forbids them, Core 5.2.2.12 does not). */
function isExternal(href: string | undefined): href is string {
  return href !== undefined && /^\s*(?!cid:)[a-z][a-z0-9+.-]*:/i.test(href);
}

function externalHrefs(user: UserMessage): string[] {
  return user.payloads.flatMap((p) => (isExternal(p.href) ? [p.href.trim()] : []));
}

/**
 * The Body's children in canonical form, '' for an empty Body. The Body itself stays out: its wsu:Id is new on every
 * attempt.
 */
function bodyForm(envelope: Envelope): string {
  let form = '';
  for (const node of envelope.body?.children ?? []) {
    if (node.kind === 'element') form += canonicalize(node);
    else if (node.kind === 'text' && node.value.trim() !== '') form += node.value;
  }
  return form;
}

/** To, Service, Action and MessageProperties; order does not count among the PartyIds and among the properties. */
function headerForm(user: UserMessage): Buffer[] {
  const sorted = (entries: Buffer[]): Buffer => tuple(...entries.sort(Buffer.compare));
  return [
    sorted(user.to.ids.map((p) => tuple(p.value, p.type ?? ''))),
    tuple(user.service.value, user.service.type ?? '', user.action),
    sorted(user.messageProperties.map((p) => tuple(p.name, p.value, p.type ?? ''))),
  ];
}

/** Who signed: the certificate, or where only its name is given, that name in canonical form. */
function signerOf(signature: Envelope['signatures'][number]): Uint8Array | string {
  if (signature.certificate !== undefined) return signature.certificate;
  const keyInfo = child(signature.element, NS.ds, 'KeyInfo');
  const names: string[] = [];
  const visit = (node: XmlNode): void => {
    if (node.kind === 'text') names.push(node.value.replace(/\s+/g, ''));
    if (node.kind === 'element') {
      names.push(node.local, attribute(node, '', 'ValueType') ?? '');
      node.children.forEach(visit);
    }
  };
  if (keyInfo !== undefined) visit(keyInfo);
  return names.filter((n) => n !== '').join(' ');
}

/** The bytes a base64 digest stands for; where it is no base64, its text, so that broken digests still differ. */
function digestBytes(value: string): Uint8Array {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? Buffer.from(value, 'base64') : Buffer.from(`text ${value}`);
}

/** Each part behind its length, so that no two different lists make the same bytes. */
function tuple(...parts: readonly (string | Uint8Array)[]): Buffer {
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    pieces.push(length, bytes);
  }
  return Buffer.concat(pieces);
}

function hash(...parts: readonly (string | Uint8Array)[]): string {
  return oneShot('sha256', tuple(...parts), 'base64url');
}
