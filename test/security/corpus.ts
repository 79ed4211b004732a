import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvelope } from '../../src/ebms/envelope.js';
import type { Envelope } from '../../src/ebms/units.js';
import { LIMITS } from '../../src/limits.js';
import { boundaryOf, comparableId, parseContentType } from '../../src/mime/content-type.js';
import { MimeScanner } from '../../src/mime/scanner.js';
import { certificateOf, type Certificate } from '../../src/security/certificate.js';
import type { DecryptionKey } from '../../src/security/decrypt.js';

/** Recorded messages with their attachments, and the keys that were published with them. */

export const shared = process.env['AS4_ONCE_SHARED'] ?? '../shared';
export const corpus = join(shared, 'corpus');
export const present = existsSync(join(corpus, 'expected.json'));

export interface Part {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface Opened {
  readonly envelope: Envelope;
  readonly root: Buffer;
  readonly parts: ReadonlyMap<string, Part>;
}

export function open(bytes: Uint8Array, contentType: string | undefined): Opened {
  const media = contentType === undefined ? undefined : parseContentType(contentType);
  if (media === undefined || !/^multipart\//i.test(contentType ?? '')) {
    const root = Buffer.from(bytes).subarray(bytes.indexOf(0x3c));
    return { envelope: readEnvelope(root, LIMITS), root, parts: new Map() };
  }
  const parts = new Map<string, Part>();
  let root = Buffer.alloc(0);
  let chunks: Buffer[] = [];
  const scanner = new MimeScanner({
    head: () => {
      chunks = [];
    },
    data: (data) => chunks.push(Buffer.from(data)),
    end: (head) => {
      const content = Buffer.concat(chunks);
      if (head.index === 0) root = content;
      else parts.set(comparableId(head.contentId ?? ''), { type: head.contentType ?? '', bytes: content });
    },
  }, { boundary: boundaryOf(media) }, LIMITS);
  scanner.push(bytes);
  return { envelope: readEnvelope(root, LIMITS), root, parts };
}

const pem = (file: string): Buffer => readFileSync(file);

/** Certificates and keys of one folder: NAME.crt.pem or NAME.cert.pem beside NAME.key.pem. */
export function keysIn(folder: string): DecryptionKey[] {
  return readdirSync(folder).filter((f) => f.endsWith('.key.pem') && !f.startsWith('ca.')).flatMap((f) => {
    const base = join(folder, f.slice(0, -'.key.pem'.length));
    const file = [`${base}.crt.pem`, `${base}.cert.pem`].find((c) => existsSync(c));
    const certificate = file === undefined ? undefined : certificateIn(file);
    const privateKey = createPrivateKey(pem(join(folder, f)));
    return certificate === undefined || privateKey.asymmetricKeyType !== 'rsa' ? [] : [{ certificate, privateKey }];
  });
}

export function certificateIn(file: string): Certificate {
  const certificate = certificateOf(new X509Certificate(pem(file)).raw);
  if (certificate === undefined) throw new Error(`no certificate in ${file}`);
  return certificate;
}
