import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { parseXml } from '../../src/xml/parse.js';
import type { XmlElement } from '../../src/xml/tree.js';
import { envelope, signalEnvelope, signature } from '../ebms/sample.js';
import { mutated, soup } from './near-xml.js';

/**
 * saxes, a conforming parser of other hands, as the judge of our reader, both ways: what one takes the other takes, and
 * both see the same elements, attributes, declarations, texts and comments. The few things that saxes lets pass and the
 * standards do not are named below, so that anything else that differs fails.
 */

/** One line for each thing in document order. */
type Seen = string[];
const XMLNS = 'http://www.w3.org/2000/xmlns/';

function ours(bytes: Uint8Array): { seen?: Seen; code: string; detail: string } {
  try {
    return { seen: linesOf(parseXml(bytes, { maxBytes: 1 << 22, depth: 1_000, uniqueIds: false }).root), code: 'accepted', detail: '' };
  } catch (error) {
    if (error instanceof As4OnceError) return { code: error.code, detail: error.detail };
    throw error;
  }
}

function linesOf(element: XmlElement, seen: Seen = []): Seen {
  seen.push(`open ${element.name} {${element.uri}}${element.local}`);
  for (const [prefix, uri] of element.declarations) seen.push(`xmlns ${prefix}=${uri}`);
  for (const { name, uri, local, value } of element.attributes) seen.push(`attribute ${name} {${uri}}${local}=${JSON.stringify(value)}`);
  for (const node of element.children) {
    if (node.kind === 'element') linesOf(node, seen);
    else seen.push(`${node.kind} ${JSON.stringify(node.value)}`);
  }
  seen.push('close');
  return seen;
}

/** What saxes sees; undefined where it refuses. */
function theirs(bytes: Uint8Array): { seen: Seen; forbidden: boolean } | undefined {
  const seen: Seen = [];
  let depth = 0;
  let forbidden = false;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', (tag) => {
    depth++;
    seen.push(`open ${tag.name} {${tag.uri}}${tag.local}`);
    const attributes = Object.values(tag.attributes);
    for (const a of attributes) if (a.uri === XMLNS) seen.push(`xmlns ${a.prefix === '' ? '' : a.local}=${a.value}`);
    for (const a of attributes) if (a.uri !== XMLNS) seen.push(`attribute ${a.name} {${a.uri}}${a.local}=${JSON.stringify(a.value)}`);
  });
  parser.on('closetag', () => {
    depth--;
    seen.push('close');
  });
  const text = (value: string): void => {
    if (depth > 0 && value !== '') seen.push(`text ${JSON.stringify(value)}`);
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('comment', (value) => {
    if (depth > 0) seen.push(`comment ${JSON.stringify(value)}`);
  });
  parser.on('doctype', () => { forbidden = true; });
  parser.on('processinginstruction', () => { forbidden ||= depth > 0; });
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // saxes takes another byte order mark behind the one that the decoder took
    if (decoded.startsWith('\ufeff')) return undefined;
    parser.write(decoded).close();
  } catch {
    return undefined;
  }
  return { seen, forbidden };
}

/** What saxes 6 lets pass, and which rule it breaks. */
function isKnownLaxity(bytes: Uint8Array, detail: string): boolean {
  const text = Buffer.from(bytes).toString();
  return /name was to follow|is broken|has no value/.test(detail) && /[<\s][^\s<>=:"']+:(?:[-.0-9\u00b7\u203f\u2040]|[\u0300-\u036f])/.test(text) // Namespaces 3: a local part is an NCName
    || /namespace/.test(detail) && /xmlns(:[^=]*)?\s*=\s*(["'])(\s|&#|[^"']*(\s|&#[x0-9a-fA-F]+;)\2)/.test(text) // trimmed namespace names
    || /processing instruction/.test(detail) && /<\?[^?\s]+:|<\?[^?\s]+\?(?!>)/.test(text) // a '?' right behind the target ('<?a??>', '<?x?ml ?>'): 2.6; colons in it: Namespaces 7
    || /encoding|XML 1\./.test(detail); // not the parser's to judge
}

/** Compares the two; whether ours took it. */
function compare(bytes: Uint8Array): boolean {
  const our = ours(bytes);
  const their = theirs(bytes);
  if (our.seen !== undefined) {
    expect(their?.seen).toEqual(our.seen);
    expect(their?.forbidden).toBe(false);
    return true;
  }
  if (their === undefined || their.forbidden || isKnownLaxity(bytes, our.detail)) return false;
  expect({ taken: Buffer.from(bytes).toString(), by: 'saxes', our }).toBeUndefined();
  return false;
}

function check(documents: fc.Arbitrary<Buffer>, runs: number): number {
  let taken = 0;
  fc.assert(fc.property(documents, (bytes) => {
    if (compare(bytes)) taken++;
  }), { numRuns: runs });
  return taken;
}

describe('our reader and saxes', () => {
  it('on mutations of a signed UserMessage', () => {
    const body = '<o a="1">x<!--c--><![CDATA[<]]></o>';
    expect(check(mutated(Buffer.from(envelope({ security: signature([['#msg', 'AAAA']]), body }))), 2_000)).toBeGreaterThan(0);
  });

  it('on mutations of a Receipt with an XML declaration', () => {
    const receipt = `<?xml version="1.0" encoding="UTF-8" standalone='yes'?>\r\n${signalEnvelope('<eb:Receipt/>')}\r\n`;
    expect(check(mutated(Buffer.from(receipt)), 2_000)).toBeGreaterThan(0);
  });

  it('on documents put together from pieces of markup', () => {
    expect(check(soup, 10_000)).toBeGreaterThan(1_000);
  });
});

const shared = process.env['AS4_ONCE_SHARED'] ?? join(import.meta.dirname, '../../../shared');
const corpus = join(shared, 'corpus', 'as4');

describe.skipIf(!existsSync(corpus))('the same on envelopes of other software (needs ../shared/corpus)', () => {
  const names = existsSync(corpus) ? readdirSync(corpus).filter((f) => f.endsWith('.xml')) : [];
  for (const name of names) {
    it(`reads ${name} as saxes does`, () => {
      const base = readFileSync(join(corpus, name));
      if (theirs(base) !== undefined) compare(base);
      check(mutated(base), 40);
    });
  }
});
