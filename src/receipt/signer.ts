import { X509Certificate } from 'node:crypto';
import type { SignatureInfo } from '../ebms/units.js';

/** An access point signs all its Receipts with one certificate or two, and parsing one costs more than all the rest. */
const KNOWN = 64;
const serials = new Map<string, string | undefined>();

/** Serial number (hex, upper case) of the certificate that a signature brings along; undefined where it brings none. */
export function signerSerial(signatures: readonly SignatureInfo[]): string | undefined {
  const der = signatures.find(({ certificate }) => certificate !== undefined)?.certificate;
  if (der === undefined) return undefined;
  const name = Buffer.from(der.buffer, der.byteOffset, der.byteLength).toString('latin1');
  if (serials.has(name)) return serials.get(name);
  const oldest = serials.size >= KNOWN ? serials.keys().next() : undefined;
  if (oldest?.done === false) serials.delete(oldest.value);
  const serial = read(der);
  serials.set(name, serial);
  return serial;
}

function read(der: Uint8Array): string | undefined {
  try {
    return new X509Certificate(der).serialNumber;
  } catch {
    return undefined; // not a certificate: the Receipt stands all the same, nobody has verified it here
  }
}
