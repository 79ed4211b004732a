import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { XmlC14NMode, XmlDocument, XmlElement as OracleElement } from 'libxml2-wasm';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { byCodePoint, canonicalize } from '../../src/xml/canonical.js';
import type { XmlAttribute, XmlElement, XmlNode } from '../../src/xml/tree.js';

const shared = process.env['AS4_ONCE_SHARED'] ?? '../shared';
const corpus = join(shared, 'corpus');

/** A tree of any well-formed document, DOCTYPE-free; the canonical form is judged apart from our own parser's rules. */
function tree(text: string): XmlElement {
  type Growing = { -readonly [K in keyof XmlElement]: XmlElement[K] } & { children: XmlNode[] };
  const parser = new SaxesParser({ xmlns: true });
  let at: Growing | undefined;
  let root: Growing | undefined;
  parser.on('error', (e) => {
    throw e;
  });
  parser.on('opentag', (tag) => {
    const attributes: XmlAttribute[] = [];
    const declarations: [string, string][] = [];
    for (const a of Object.values(tag.attributes)) {
      if (a.name === 'xmlns') declarations.push(['', a.value]);
      else if (a.prefix === 'xmlns') declarations.push([a.local, a.value]);
      else attributes.push({ name: a.name, prefix: a.prefix, local: a.local, uri: a.uri, value: a.value });
    }
    const { name, prefix, local, uri } = tag;
    const element: Growing = { kind: 'element', name, prefix, local, uri, attributes, declarations, children: [], parent: at };
    at?.children.push(element);
    root ??= element;
    at = element;
  });
  parser.on('closetag', () => {
    at = at?.parent as Growing | undefined;
  });
  const characters = (value: string): void => {
    at?.children.push({ kind: 'text', value });
  };
  parser.on('text', characters);
  parser.on('cdata', characters);
  parser.on('comment', (value) => at?.children.push({ kind: 'comment', value }));
  parser.write(text).close();
  if (root === undefined) throw new Error('no root');
  return root;
}

/** Every XML document of the corpus: whole files, what follows HTTP headers, MIME root parts and XML attachments. */
function documents(): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = [];
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) walk(path);
      else if (!/\.(edi|pem|pfx|p12|jks|cer|json|md|ct|x12)$/i.test(name)) {
        const bytes = readFileSync(path);
        if (bytes.length < 2_000_000) found.push(...within(bytes.toString('utf8')).map((text) => ({ name, text })));
      }
    }
  };
  walk(corpus);
  return found;
}

function within(content: string): string[] {
  const starts = /(?:<\?xml[^>]*\?>\s*)?<([A-Za-z][\w.-]*:)?(Envelope|StandardBusinessDocument|Invoice)\b/g;
  const found: string[] = [];
  for (let m = starts.exec(content); m !== null; m = starts.exec(content)) {
    const close = `</${m[1] ?? ''}${m[2] ?? ''}`;
    const end = content.indexOf(close, m.index);
    if (end < 0) continue;
    const stop = content.indexOf('>', end) + 1;
    found.push(content.slice(m.index, stop));
    starts.lastIndex = stop;
  }
  return found;
}

const PREFIX_LISTS = [[], ['S12'], ['eb3', 'xsd', 'xsi'], ['#default', 'soapenv', 'env'], ['wsse', 'ds', 'eb', 'wsu', 'ns2']];

/** Compares every subtree with libxml2 in document order, with the prefix lists of its turn. Returns how many were compared. */
function compareAll(text: string, lists: (nth: number) => readonly (readonly string[])[]): number {
  const document = XmlDocument.fromString(text);
  try {
    let compared = 0;
    const pair = (mine: XmlElement, theirs: OracleElement): void => {
      for (const list of lists(compared)) {
        const wanted = theirs.canonicalizeToString({
          mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0,
          inclusiveNamespacePrefixes: [...list],
        });
        if (canonicalize(mine, { inclusivePrefixes: list }) !== wanted) {
          expect(canonicalize(mine, { inclusivePrefixes: list })).toBe(wanted);
        }
        compared++;
      }
      let other = theirs.firstChild;
      for (const node of mine.children) {
        if (node.kind !== 'element') continue;
        while (other !== null && !(other instanceof OracleElement)) other = other.next;
        if (other === null) throw new Error(`libxml2 has fewer children below ${mine.name}`);
        pair(node, other);
        other = other.next;
      }
    };
    pair(tree(text), document.root);
    return compared;
  } finally {
    document.dispose();
  }
}

describe('exclusive canonical form', () => {
  it('orders prefixes by code point: S12 before eb', () => {
    const root = tree('<S12:E xmlns:eb="urn:e" xmlns:S12="urn:s" eb:b="1" S12:z="2" a="3"/>');
    expect(canonicalize(root)).toBe('<S12:E xmlns:S12="urn:s" xmlns:eb="urn:e" a="3" eb:b="1" S12:z="2"></S12:E>');
  });

  it('orders by code point, not by UTF-16 unit', () => {
    const names = ['\u{10000}', '\uFFFD', 'z', 'Z', 'a\u{1F600}', 'a\uE000', 'a'];
    const byBytes = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect([...names].sort(byCodePoint)).toEqual(byBytes);
  });

  it('leaves comments out and escapes what has to be escaped', () => {
    const root = tree('<a t="x&#9;&#10;&#13;&quot;&lt;&amp;&gt;">1<!-- no --><![CDATA[<2>&]]>&#13;</a>');
    expect(canonicalize(root)).toBe('<a t="x&#x9;&#xA;&#xD;&quot;&lt;&amp;>">1&lt;2&gt;&amp;&#xD;</a>');
  });

  it('leaves out one element on request', () => {
    const root = tree('<a><b/><c>1</c></a>');
    const without = root.children[0] as XmlElement;
    expect(canonicalize(root, { withoutElement: without })).toBe('<a><c>1</c></a>');
  });

  it.each([
    ['<a xmlns="urn:u"><b xmlns=""><c xmlns="urn:u"/></b></a>'],
    ['<p:a xmlns:p="urn:u"><p:b xmlns:p="urn:v"><p:c xmlns:p="urn:u" p:d="1"/></p:b></p:a>'],
    ['<a xmlns="urn:u" xmlns:q="urn:r"><x xmlns="" q:y="" xml:lang="de"><q:z/></x></a>'],
    ['<p:a xmlns:p="urn:u" xmlns="urn:d"><p:b><c/></p:b><p:e xmlns=""><f/></p:e></p:a>'],
    ['<a xmlns:b="urn:u" xmlns:c="urn:u" b:x="1" c:y="2" z="3"/>'],
  ])('agrees with libxml2 on %s', (text) => {
    expect(compareAll(text, () => [...PREFIX_LISTS, ['p'], ['q', '#default'], ['b']])).toBeGreaterThan(0);
  });

  it('agrees with libxml2 on generated documents', () => {
    const prefix = fc.constantFrom('', 'a', 'B', 'é', 'Z1', 'zz');
    const uri = fc.constantFrom('urn:1', 'urn:2', 'urn:3');
    const value = fc.string({ unit: fc.constantFrom('x', '&', '<', '>', '"', '\t', '\n', '\r', 'ü', '\u{1F600}', ' '), maxLength: 6 });
    type Shape = { p: string; ns: [string, string][]; at: [string, string][]; text: string; sub: Shape[] };
    const shape = (depth: number): fc.Arbitrary<Shape> =>
      fc.record({
        p: prefix,
        ns: fc.uniqueArray(fc.tuple(prefix, uri), { selector: (x) => x[0], maxLength: 3 }),
        at: fc.uniqueArray(fc.tuple(prefix, value), { selector: (x) => x[0], maxLength: 3 }),
        text: value,
        sub: depth === 0 ? fc.constant<Shape[]>([]) : fc.array(shape(depth - 1), { maxLength: 2 }),
      });
    const write = (s: Shape, scope: Map<string, string>): string => {
      const inner = new Map(scope);
      for (const [p, u] of s.ns) inner.set(p, u);
      // two prefixes of one element bound to one URI would make equal attribute names
      const taken = new Set<string>();
      const attributes = s.at.filter(([p]) => p === '' || (inner.has(p) && !taken.has(inner.get(p) ?? '') && taken.add(inner.get(p) ?? '')));
      const name = s.p !== '' && inner.has(s.p) ? `${s.p}:e` : 'e';
      const escape = (v: string): string => v.replace(/[&<>"\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`);
      const declared = s.ns.map(([p, u]) => ` xmlns${p === '' ? '' : `:${p}`}="${u}"`).join('');
      const given = attributes.map(([p, v]) => ` ${p === '' ? '' : `${p}:`}k="${escape(v)}"`).join('');
      return `<${name}${declared}${given}>${escape(s.text)}<!--c-->${s.sub.map((x) => write(x, inner)).join('')}</${name}>`;
    };
    fc.assert(
      fc.property(shape(4), fc.uniqueArray(fc.constantFrom('#default', 'a', 'B', 'é', 'Z1', 'zz'), { maxLength: 3 }), (s, list) => {
        compareAll(write(s, new Map()), () => [[], list]);
      }),
      { numRuns: 400 },
    );
  });
});

describe.skipIf(!existsSync(corpus))('exclusive canonical form of the corpus (needs ../shared/corpus)', () => {
  it('agrees with libxml2 on every subtree', { timeout: 300_000 }, () => {
    let compared = 0;
    let read = 0;
    for (const { name, text } of documents()) {
      if (text.includes('<!DOCTYPE')) continue;
      try {
        tree(text);
        XmlDocument.fromString(text).dispose();
      } catch {
        continue; // not well-formed on purpose: other tests' matter
      }
      read++;
      try {
        compared += compareAll(text, (nth) => [[], PREFIX_LISTS[1 + ((nth / 2) % 4)] ?? []]);
      } catch (cause) {
        throw new Error(`differs in ${name}`, { cause });
      }
    }
    expect(read).toBeGreaterThan(150);
    expect(compared).toBeGreaterThan(20_000);
  });
});
