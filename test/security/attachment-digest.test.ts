import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XmlC14NMode, XmlDocument } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';
import { AttachmentDigest } from '../../src/security/attachment-digest.js';
import { corpus } from './corpus.js';

const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();

/** Whether content signed with that digest is accepted, at every way to cut it in two and in small pieces. */
function accepted(content: Buffer, mediaType: string, digest: Uint8Array): boolean {
  const answers = new Set<boolean>();
  const steps = content.length > 2_000 ? [4_093] : [1, 2, 3, 5, content.length + 1];
  for (const step of steps) {
    const check = new AttachmentDigest({ contentId: 'a', uri: 'cid:a', transform: 'attachmentContent', digestMethod: '', hash: 'sha256', digest }, mediaType);
    for (let at = 0; at < content.length; at += step) check.update(content.subarray(at, at + step));
    answers.add(check.matches());
  }
  expect(answers.size).toBe(1);
  return answers.has(true);
}

const canonical = (text: string): string => {
  const document = XmlDocument.fromString(text);
  try {
    return document.canonicalizeToString({ mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
  } finally {
    document.dispose();
  }
};

describe('an XML attachment', () => {
  it.each([
    ['<a/>'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<a b="2"  a=\'1\'>\r\n<!-- no --><b/>x&#13;</a>\n'],
    ['<?xml version="1.0"?><?style sheet="x"?><!-- no -->\n<p:a xmlns:p="urn:p" xmlns:q="urn:q"><q:b/><?in side?></p:a>\n<?after?>\n<!-- no -->'],
    ['<a xmlns="urn:a" xmlns:b="urn:b" b:c="&lt;&amp;&#x9;"><![CDATA[<x>&]]>\u00fc\u{1F600}</a>'],
  ])('is digested as libxml2 writes it: %s', (text) => {
    const content = Buffer.from(text);
    for (const type of ['application/xml', 'text/xml; charset=utf-8', 'application/ubl+xml', 'image/svg+xml', 'APPLICATION/XML']) {
      expect(accepted(content, type, sha256(canonical(text))), type).toBe(true);
      expect(accepted(content, type, sha256(content)), 'as octets').toBe(true);
      expect(accepted(content, type, sha256('something else'))).toBe(false);
    }
  });

  it.each<[string, string, (text: string) => Buffer]>([
    ['UTF-16 with a byte order mark', '<a b="\u00fc">\u{1F600}</a>', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, big endian', '<a b="\u00fc">\u{1F600}</a>', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['ISO-8859-1 by its declaration', '<?xml version="1.0" encoding="ISO-8859-1"?><a>\u00fc</a>', (text) => Buffer.from(text, 'latin1')],
    ['windows-1252 by its declaration', "<?xml version='1.0' encoding='windows-1252' ?>\n<a>\u20ac</a>", (text) => Buffer.from(text.replace('\u20ac', '\x80'), 'latin1')],
    ['UTF-8 with a byte order mark', '<a>\u00fc</a>', (text) => Buffer.from(`\ufeff${text}`)],
  ])('in %s is digested in canonical form too, which is UTF-8', (_name, text, encode) => {
    const content = encode(text);
    const digest = sha256(canonical(text.replace(/ encoding=(["'])[^"']*\1/, '')));
    expect(accepted(content, 'application/xml', digest)).toBe(true);
    expect(accepted(content, 'application/xml', sha256('something else'))).toBe(false);
  });

  it('in another encoding than its bytes are has none', () => {
    const text = '<?xml version="1.0"?><a>\u00fc</a>';
    const latin1 = Buffer.from(text, 'latin1');
    expect(accepted(latin1, 'application/xml', sha256(canonical(text)))).toBe(false);
    expect(accepted(latin1, 'application/xml; charset="iso-8859-1"', sha256(canonical(text)))).toBe(true);
    expect(accepted(latin1, 'application/xml; charset=no-such', sha256(canonical(text)))).toBe(false);
  });

  it('has no canonical form under another media type', () => {
    const text = '<a b="2" a="1"/>';
    for (const type of ['application/gzip', 'application/octet-stream', '', 'application/xml-dtd', 'model/x+xml']) {
      expect(accepted(Buffer.from(text), type, sha256(canonical(text)))).toBe(false);
      expect(accepted(Buffer.from(text), type, sha256(text))).toBe(true);
    }
  });

  it.each([
    ['with a DOCTYPE', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['that is broken', '<a><b></a>'],
    ['that ends too early', '<a>'],
    ['with two roots', '<a/><b/>'],
    ['in another encoding', 'not UTF-8: '],
    ['that is deep', '<a>'.repeat(300) + '</a>'.repeat(300)],
    ['that is empty', ''],
  ])('%s is right only as octets', (_name, text) => {
    const content = text.startsWith('not UTF-8') ? Buffer.from('<a>\u00fc</a>', 'latin1') : Buffer.from(text);
    expect(accepted(content, 'application/xml', sha256(content))).toBe(true);
    expect(accepted(content, 'application/xml', sha256(''))).toBe(content.length === 0);
  });

  it.skipIf(!existsSync(corpus))('of the corpus: every SBDH document as libxml2 writes it (needs ../shared/corpus)', () => {
    let compared = 0;
    for (const name of readdirSync(join(corpus, 'sbdh'))) {
      const content = readFileSync(join(corpus, 'sbdh', name));
      let wanted: string;
      try {
        if (content.includes('<!DOCTYPE')) continue;
        wanted = canonical(new TextDecoder('utf-8', { fatal: true }).decode(content));
      } catch {
        continue;
      }
      expect(accepted(content, 'application/xml', sha256(wanted)), name).toBe(true);
      compared++;
    }
    expect(compared).toBeGreaterThan(5);
  });
});

describe('a text attachment', () => {
  it('may be digested with CRLF line ends (SwA Profile 1.1, 5.4.2)', () => {
    const content = Buffer.from('a\nb\r\nc\rd\r\r\n\n\u00fc');
    expect(accepted(content, 'text/plain', sha256('a\r\nb\r\nc\r\nd\r\n\r\n\r\n\u00fc'))).toBe(true);
    expect(accepted(content, 'text/plain', sha256(content))).toBe(true);
    expect(accepted(content, 'text/plain', sha256('a\nb\nc\nd\n\n\n\u00fc'))).toBe(false);
    expect(accepted(content, 'application/octet-stream', sha256('a\r\nb\r\nc\r\nd\r\n\r\n\r\n\u00fc'))).toBe(false);
  });
});
