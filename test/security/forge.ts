import { createHash, createHmac, sign, type KeyObject } from 'node:crypto';
import { XmlC14NMode, XmlDocument, XmlElement } from 'libxml2-wasm';
import { As4OnceError } from '../../src/errors.js';
import { certificateOf } from '../../src/security/certificate.js';
import type { Identity as OurIdentity } from '../../src/security/keys.js';
import { verifyEnvelope, type VerifyOptions } from '../../src/security/verify.js';
import type { Identity } from '../../conformance/keys.js';
import { as4Message, identity, type MessageChoices } from '../support/messages.js';
import { open, type Opened } from './corpus.js';

/** A forger's workbench: honest messages of the conformance client, bent afterwards, signed again where the forger has a key. */

export const sender = identity('POP000001');
export const now = Date.now();

export const ours = (of: Identity): OurIdentity => {
  const certificate = certificateOf(of.certificate.raw);
  if (certificate === undefined) throw new Error('not a certificate');
  return { privateKey: of.key, certificate };
};

export const options = (more: Partial<VerifyOptions> = {}): VerifyOptions =>
  ({ trust: { anchors: [ours(sender).certificate] }, now, party: 'commonName', ...more });

/** What becomes of a signed message after `tamper`: 'ok', the reason of the refusal, or the code that its reading throws. */
export function outcome(tamper: (envelope: string) => string, choices: MessageChoices = {}, more: Partial<VerifyOptions> = {}): string {
  let opened: Opened;
  try {
    const message = as4Message({ signer: sender, ...choices, plan: { ...choices.plan, tamper } });
    opened = open(message.body, message.contentType);
  } catch (error) {
    if (error instanceof As4OnceError) return error.code;
    throw error;
  }
  const answer = verifyEnvelope(opened.envelope, options(more));
  return answer.ok ? 'ok' : answer.reason;
}

const NS = { ds: 'http://www.w3.org/2000/09/xmldsig#', wsu: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd' };

/** Signs an envelope's SignedInfo as it stands, with libxml2's canonical form. Digests of `#` references are made right first. */
export function resign(envelope: string, key: KeyObject, hash = 'sha256', mac?: Uint8Array): string {
  let text = envelope;
  const document = XmlDocument.fromString(text);
  const canonical = (element: XmlElement): string => element.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
  for (const reference of document.root.find('//ds:SignedInfo/ds:Reference', NS)) {
    if (!(reference instanceof XmlElement)) continue;
    const uri = reference.attr('URI')?.value ?? '';
    const target = uri.startsWith('#') ? document.root.get(`//*[@wsu:Id='${uri.slice(1)}']`, NS) : null;
    if (!(target instanceof XmlElement)) continue;
    const algorithm = reference.get('ds:DigestMethod/@Algorithm', NS)?.content ?? '';
    const made = createHash(algorithm.endsWith('sha1') ? 'sha1' : 'sha256').update(canonical(target)).digest('base64');
    text = text.replace(reference.get('ds:DigestValue', NS)?.content ?? '', made);
  }
  document.dispose();
  const again = XmlDocument.fromString(text);
  const info = again.root.get('//ds:SignedInfo', NS);
  if (!(info instanceof XmlElement)) throw new Error('no SignedInfo');
  const bytes = Buffer.from(canonical(info));
  again.dispose();
  const value = mac === undefined ? sign(hash, bytes, key) : createHmac('sha1', mac).update(bytes).digest();
  return text.replace(/(<ds:SignatureValue[^>]*>)[^<]*/, `$1${value.toString('base64')}`);
}
