import { hash, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { securityHeaders } from '../ebms/header-blocks.js';
import type { Envelope } from '../ebms/units.js';
import { comparableId, isCid } from '../mime/content-type.js';
import { canonicalize } from '../xml/canonical.js';
import { child, children, type XmlElement } from '../xml/tree.js';
import { NS, STRICT, type AlgorithmPolicy } from './algorithms.js';
import type { AttachmentReference } from './attachment-digest.js';
import type { Certificate } from './certificate.js';
import { refusal, type SecurityRefusal } from './refusal.js';
import { leafText, readSignature, type ReadSignature, type SignedReference } from './signature.js';
import { resolveToken, type TokenForm } from './token.js';
import { checkTrust, type Trust } from './trust.js';

export interface VerifyOptions {
  readonly trust: Trust;
  /** Wall clock, epoch ms, for the validity of certificates. */
  readonly now: number;
  /** What the P-Mode allows; STRICT unless it says more. */
  readonly algorithms?: AlgorithmPolicy;
  /** Certificates that key identifiers and serial numbers are looked up among, beside the anchors. */
  readonly known?: readonly Certificate[];
  /** `commonName`: the signer's CN has to be each From PartyId (Peppol AS4 2.0, 4.4). */
  readonly party?: 'any' | 'commonName';
  /** Some products leave an empty Body unsigned, against AS4 5.1.4. */
  readonly unsignedEmptyBody?: 'refuse' | 'accept';
  /** The SOAP Body after decryption, where it was encrypted (decrypt.ts). */
  readonly decryptedBody?: XmlElement;
}

export interface Verified {
  readonly ok: true;
  readonly signer: Certificate;
  readonly token: TokenForm;
  readonly method: string;
  /** All references as signed, in order: what a Receipt's NonRepudiationInformation repeats. */
  readonly references: readonly SignedReference[];
  /** What each attachment has to digest to, still to be checked against its bytes (AttachmentDigest). */
  readonly attachments: readonly AttachmentReference[];
  /** The Body is encrypted and was not given in clear, so that its digest is still a claim. */
  readonly bodyPending: boolean;
  /** Until when the certificates bear this answer, epoch ms. */
  readonly until: number;
}

export type Verification = Verified | SecurityRefusal;

/**
 * Verifies the one signature of an envelope: over exactly eb:Messaging, the SOAP Body and every PartInfo's attachment
 * (AS4 5.1.4 to 5.1.7), and what its own security header says of itself (a wsu:Timestamp, say). References are resolved in the very tree that the header was read from, and have to be those
 * elements themselves, so that an element moved elsewhere is no use to a forger. Cheap checks come first; what it
 * costs is bounded by the size of the envelope and the number of PartInfos. Attachments are left to the caller.
 */
export function verifyEnvelope(envelope: Envelope, options: VerifyOptions): Verification {
  const found = findSignature(envelope);
  if ('ok' in found) return found;
  const { security, signature } = found;
  const algorithms = options.algorithms ?? STRICT;
  const cids = envelope.userMessage?.payloads.flatMap((p) => (isCid(p.href) ? [p.href] : []))
    ?? [];
  const beside = signable(security);
  const read = readSignature(signature, cids.length + 2 + beside.length);
  if ('ok' in read) return read;
  const weak = weakness(read, algorithms);
  if (weak !== undefined) return refusal('algorithm', `the P-Mode does not allow ${weak}`);

  const covered = cover(envelope, read.references, cids, beside, options);
  if ('ok' in covered) return covered;
  const comment = messageIdComment(envelope);
  if (comment !== undefined) return comment;
  for (const { element, reference } of covered.elements) {
    if (!digestFits(element, reference)) {
      return refusal('digest', `${reference.uri} (${element.local}) is not what was signed`);
    }
  }
  return authenticate({ envelope, security, read, covered, options, algorithms });
}

interface Covered {
  readonly elements: readonly { readonly element: XmlElement; readonly reference: SignedReference }[];
  readonly attachments: readonly AttachmentReference[];
  readonly bodyPending: boolean;
}

interface Found {
  readonly security: XmlElement;
  readonly signature: XmlElement;
}

/**
 * The signature is a child of the one wsse:Security for us that is a child of the SOAP Header; elsewhere none is looked
 * for.
 */
function findSignature(envelope: Envelope): Found | SecurityRefusal {
  const headers = securityHeaders(envelope);
  const [security] = headers;
  if (security === undefined) return refusal('unsigned', 'no wsse:Security header for this receiver');
  if (headers.length > 1) return refusal('severalSignatures', 'more than one wsse:Security header');
  const signatures = children(security, NS.ds, 'Signature');
  const [signature] = signatures;
  if (signature === undefined) return refusal('unsigned', 'no ds:Signature in the security header');
  if (signatures.length > 1) {
    return refusal('severalSignatures', `${signatures.length} ds:Signatures in the security header`);
  }
  return { security, signature };
}

/** Elements of the security header that senders sign beside the message (AS4 appendix A signs the Timestamp); more are none. */
export const MAX_BESIDE = 8;

function signable(security: XmlElement): readonly XmlElement[] {
  return [
    ...children(security, NS.wsu, 'Timestamp'),
    ...children(security, NS.wsse11, 'SignatureConfirmation'),
    ...children(security, NS.wsse, 'BinarySecurityToken'),
  ].slice(0, MAX_BESIDE);
}

function weakness(read: ReadSignature, algorithms: AlgorithmPolicy): string | undefined {
  if (!algorithms.signatures.has(read.method)) return read.method;
  return read.references.find((r) => !algorithms.digests.has(r.digestMethod))?.digestMethod;
}

/** Holds the reference set against what has to be signed: nothing missing, nothing twice, nothing else. */
function cover(
  envelope: Envelope, references: readonly SignedReference[], cids: readonly string[], beside: readonly XmlElement[],
  options: VerifyOptions,
): Covered | SecurityRefusal {
  const { messaging, body } = envelope;
  if (messaging === undefined || body === undefined) return refusal('malformed', 'no eb:Messaging or no SOAP Body');
  const missing = new Set<string>();
  for (const cid of cids) {
    const id = comparableId(cid);
    if (missing.has(id)) return refusal('referenceSet', `two PartInfos ${cid.slice(0, 200)}`);
    missing.add(id);
  }
  const elements: { element: XmlElement; reference: SignedReference }[] = [];
  const attachments: AttachmentReference[] = [];
  const signed = new Set<XmlElement>();
  let bodyPending = false;
  for (const reference of references) {
    const { uri, transform } = reference;
    if (transform !== 'exclusive') {
      const contentId = comparableId(uri);
      if (!missing.delete(contentId)) return outside(uri);
      const { hash, digest, digestMethod } = reference;
      attachments.push({ contentId, uri, transform, hash, digest, digestMethod });
      continue;
    }
    const target = uri.startsWith('#') ? envelope.document.ids.get(uri.slice(1)) : undefined;
    if (target === undefined) return refusal('dangling', `${uri.slice(0, 200)} is not one element of the envelope`);
    if ((target !== messaging && target !== body && !beside.includes(target)) || signed.has(target)) return outside(uri);
    signed.add(target);
    if (target !== body || !envelope.bodyEncrypted) elements.push({ element: target, reference });
    else if (options.decryptedBody !== undefined) elements.push({ element: options.decryptedBody, reference });
    else bodyPending = true;
  }
  if (missing.size > 0) return refusal('referenceSet', `${missing.size} attachments are not signed`);
  if (!signed.has(messaging)) return refusal('referenceSet', 'eb:Messaging is not signed');
  if (!signed.has(body) && (options.unsignedEmptyBody !== 'accept' || body.children.length > 0)) {
    return refusal('referenceSet', 'the SOAP Body is not signed');
  }
  return { elements, attachments, bodyPending };
}

const outside = (uri: string): SecurityRefusal =>
  refusal('referenceSet', `${uri.slice(0, 200)} is signed twice, or is not eb:Messaging, Body, a PartInfo or the security header's own`);

/** Comments are no part of what is signed; in a MessageId they serve nobody but a forger. */
function messageIdComment(envelope: Envelope): SecurityRefusal | undefined {
  const units = envelope.messaging?.children.filter((n): n is XmlElement => n.kind === 'element') ?? [];
  for (const unit of units) {
    const info = child(unit, NS.eb, 'MessageInfo');
    const ids = info === undefined
      ? [] : [...children(info, NS.eb, 'MessageId'), ...children(info, NS.eb, 'RefToMessageId')];
    if (ids.some((id) => leafText(id) === undefined)) {
      return refusal('comment', 'comment or element within eb:MessageId');
    }
  }
  return undefined;
}

/** Whether an element's canonical form has the digest that the reference claims. */
export function digestFits(element: XmlElement, reference: SignedReference): boolean {
  const digest = hash(reference.hash, canonicalize(element, { inclusivePrefixes: reference.prefixes }), 'buffer');
  return timingSafeEqual(digest, reference.digest);
}

/** Whether SignedInfo was signed with that RSA key (RSASSA-PKCS1-v1_5). */
export function signatureFits(read: ReadSignature, key: KeyObject): boolean {
  const signedInfo = canonicalize(read.signedInfo, { inclusivePrefixes: read.prefixes });
  return verify(read.hash, Buffer.from(signedInfo), key, read.value);
}

interface Authentication extends Found {
  readonly envelope: Envelope;
  readonly read: ReadSignature;
  readonly covered: Covered;
  readonly options: VerifyOptions;
  readonly algorithms: AlgorithmPolicy;
}

type Unauthenticated = Omit<Authentication, 'signature'>;

/** Whose key signed, whether one of its certificates is believed, and whether that is the party that the header names. */
function authenticate({ envelope, security, read, covered, options, algorithms }: Unauthenticated): Verification {
  const { trust } = options;
  const known = [...trust.anchors, ...(trust.intermediates ?? []), ...(options.known ?? [])];
  const token = resolveToken(read.keyInfo, { security, ids: envelope.document.ids, known });
  if (typeof token === 'string') return refusal('token', token);
  const { certificate } = token;
  const { rsaBits: bits } = certificate;
  if (bits === undefined) return refusal('algorithm', 'the signer has no RSA key');
  if (bits < algorithms.minRsaBits || bits > MAX_RSA_BITS) return refusal('weakKey', `RSA key of ${bits} bits`);
  if (!signatureFits(read, certificate.publicKey)) {
    return refusal('signatureValue', `SignatureValue is not by the key of ${certificate.subject.text}`);
  }
  const { attachments, bodyPending } = covered;
  const { method, references } = read;
  let refused: SecurityRefusal | undefined;
  for (const signer of [certificate, ...token.twins]) {
    const until = believedUntil(signer, token.path, envelope, options);
    if (typeof until === 'number') return { ok: true, signer, token: token.form, method, references, attachments, bodyPending, until };
    refused ??= until;
  }
  return refused ?? refusal('token', 'no certificate');
}

/** Until when the certificate bears the signature of that header, epoch ms. */
function believedUntil(
  signer: Certificate, path: readonly Certificate[], envelope: Envelope, { trust, now, party }: VerifyOptions,
): number | SecurityRefusal {
  if (!signer.signs) return refusal('untrusted', `${signer.subject.text} may not sign messages (keyUsage)`);
  const trusted = checkTrust(signer, path, trust, now);
  if (!trusted.ok) return refusal(trusted.reason, trusted.detail);
  const from = envelope.userMessage?.from.ids ?? [];
  if (party === 'commonName' && (from.length === 0 || from.some((p) => p.value !== signer.subject.commonName))) {
    const claimed = from.map((p) => p.value).join(', ').slice(0, 200);
    return refusal('party', `From is ${claimed}, the signer is ${signer.subject.commonName ?? 'nameless'}`);
  }
  return trusted.until;
}

/** Verification time grows with the square of the key. */
const MAX_RSA_BITS = 8_192;
