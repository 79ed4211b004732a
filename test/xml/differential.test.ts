import { readFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { XmlC14NMode, XmlDocument } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { canonicalize } from '../../src/xml/canonical.js';
import { parseXml } from '../../src/xml/parse.js';
import { envelope, signalEnvelope, signature } from '../ebms/sample.js';
import { mutated } from './near-xml.js';

/**
 * libxml2 as the other reader: whatever our parser takes, it must take too, and see the same document. (The other way
 * round does not hold: we refuse DOCTYPE, instructions, depth and repeated Ids.)
 */

const shared = process.env['AS4_ONCE_SHARED'] ?? join(import.meta.dirname, '../../../shared');
const corpus = join(shared, 'corpus', 'as4');

function ours(bytes: Uint8Array): string | undefined {
  try {
    return canonicalize(parseXml(bytes, { maxBytes: 1 << 20, depth: 64, uniqueIds: true }).root);
  } catch (error) {
    if (error instanceof As4OnceError) return undefined;
    throw error;
  }
}

function theirs(bytes: Uint8Array): string | undefined {
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(bytes);
  } catch (error) {
    return /is not (a valid|absolute)/.test(String(error)) ? UNJUDGED : undefined;
  }
  try {
    return document.root.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
  } catch {
    return UNJUDGED;
  } finally {
    document.dispose();
  }
}

/** Namespaces in XML takes any name; libxml2 wants a URI, and Canonical XML an absolute one. */
const UNJUDGED = 'a namespace name that is no absolute URI';

/** How many mutations our parser took. */
function check(base: Buffer, runs: number): number {
  expect(ours(base)).toBe(theirs(base));
  let taken = 0;
  fc.assert(
    fc.property(mutated(base), (bytes) => {
      const read = ours(bytes);
      if (read !== undefined) {
        taken++;
        const other = theirs(bytes);
        if (other !== UNJUDGED) expect(read).toBe(other);
      }
    }),
    { numRuns: runs },
  );
  return taken;
}

describe('mutations of an envelope: what our parser takes, libxml2 takes and reads alike', () => {
  it('a signed UserMessage', () => {
    const body = '<o a="1">x<!--c--><![CDATA[<]]></o>';
    const taken = check(Buffer.from(envelope({ security: signature([['#msg', 'AAAA']]), body })), 1_500);
    expect(taken).toBeGreaterThan(0);
  });

  it('a Receipt', () => {
    const receipt = `<?xml version="1.0" encoding="UTF-8"?>\n${signalEnvelope('<eb:Receipt/>')}\n`;
    expect(check(Buffer.from(receipt), 1_500)).toBeGreaterThan(0);
  });
});

describe.skipIf(!existsSync(corpus))('the same on envelopes of other software (needs ../shared/corpus)', () => {
  const names = existsSync(corpus) ? readdirSync(corpus).filter((f) => f.endsWith('.xml')) : [];
  const good = names.filter((name) => ours(readFileSync(join(corpus, name))) !== undefined);

  it('there are some', () => {
    expect(good.length).toBeGreaterThan(30);
  });

  for (const name of good) {
    it(`reads ${name} as libxml2 does`, () => {
      // small files may have no mutation that is still well-formed
      expect(check(readFileSync(join(corpus, name)), 40)).toBeGreaterThanOrEqual(0);
    });
  }
});
