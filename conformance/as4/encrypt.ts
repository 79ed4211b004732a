import { constants, createCipheriv, publicEncrypt, randomBytes, randomUUID } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import { ALGORITHM, NS, TOKEN } from './names.js';
import type { SignedPart } from './sign.js';

export interface EncryptionHeader {
  /**
   * xenc:EncryptedKey and one xenc:EncryptedData for each attachment, to stand in wsse:Security before the signature.
   */
  readonly xml: string;
  /** The attachments as they go on the wire. */
  readonly parts: readonly SignedPart[];
}

/**
 * Encrypts attachments for the receiver: one AES-128-GCM key, carried by RSA-OAEP with SHA-256 and MGF1-SHA-256
 * (eDelivery AS4 1.15, 1.4.2.6). The content is IV, ciphertext and tag. A new key and new IVs on each call.
 */
export function encryptParts(parts: readonly SignedPart[], receiver: X509Certificate): EncryptionHeader {
  const key = randomBytes(16);
  const keyId = `EK-${randomUUID()}`;
  const tokenId = `X509-${randomUUID()}`;
  const wrapped = publicEncrypt(
    { key: receiver.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
    key,
  );
  const data = parts.map((part) => ({ id: `ED-${randomUUID()}`, part, bytes: seal(key, part.bytes) }));
  const list = data.map(({ id }) => `<xenc:DataReference URI="#${id}"/>`).join('');
  const xml = [
    `<wsse:BinarySecurityToken EncodingType="${TOKEN.base64}" ValueType="${TOKEN.x509v3}" wsu:Id="${tokenId}` +
    `">${receiver.raw.toString('base64')}</wsse:BinarySecurityToken>`,
    `<xenc:EncryptedKey xmlns:xenc="${NS.xenc}" Id="${keyId}">`,
    `<xenc:EncryptionMethod Algorithm="${ALGORITHM.rsaOaep}">`,
    `<ds:DigestMethod xmlns:ds="${NS.ds}" Algorithm="${ALGORITHM.sha256}"/>`,
    `<xenc11:MGF xmlns:xenc11="${NS.xenc11}" Algorithm="${ALGORITHM.mgf1sha256}"/></xenc:EncryptionMethod>`,
    `<ds:KeyInfo xmlns:ds="${NS.ds}"><wsse:SecurityTokenReference><wsse:Reference URI="#${tokenId}" ` +
    `ValueType="${TOKEN.x509v3}"/></wsse:SecurityTokenReference></ds:KeyInfo>`,
    `<xenc:CipherData><xenc:CipherValue>${wrapped.toString('base64')}</xenc:CipherValue></xenc:CipherData>`,
    `<xenc:ReferenceList>${list}</xenc:ReferenceList></xenc:EncryptedKey>`,
    ...data.map(({ id, part }) => encryptedData(id, part, keyId)),
  ].join('');
  return {
    xml,
    parts: data.map(({ part, bytes }) => ({ contentId: part.contentId, mediaType: 'application/octet-stream', bytes })),
  };
}

function seal(key: Buffer, plain: Buffer): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-128-gcm', key, iv);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function encryptedData(id: string, part: SignedPart, keyId: string): string {
  return [
    `<xenc:EncryptedData xmlns:xenc="${NS.xenc}" Id="${id}" MimeType="${part.mediaType}" ` +
    `Type="${ALGORITHM.attachmentOnly}">`,
    `<xenc:EncryptionMethod Algorithm="${ALGORITHM.aes128gcm}"/>`,
    `<ds:KeyInfo xmlns:ds="${NS.ds}"><wsse:SecurityTokenReference xmlns:wsse11="${NS.wsse11}" ` +
    `wsse11:TokenType="${TOKEN.encryptedKey}">`,
    `<wsse:Reference URI="#${keyId}"/></wsse:SecurityTokenReference></ds:KeyInfo>`,
    `<xenc:CipherData><xenc:CipherReference URI="cid:${part.contentId}"><xenc:Transforms>`,
    `<ds:Transform xmlns:ds="${NS.ds}" Algorithm="${ALGORITHM.attachmentCiphertext}"/>`,
    '</xenc:Transforms></xenc:CipherReference></xenc:CipherData></xenc:EncryptedData>',
  ].join('');
}
