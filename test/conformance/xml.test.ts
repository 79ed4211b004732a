import { describe, expect, test } from 'vitest';
import {
  attributeOf,
  childrenOf,
  escapeAttribute,
  escapeText,
  onlyChild,
  plainText,
  readXml,
  XmlRefused,
} from '../../conformance/as4/xml.js';

describe('strict reading of answers', () => {
  // fast-xml-parser takes most of these; an answer that only a lenient parser can read must not pass for a Receipt.
  test.each([
    ['two roots', '<a/><b/>'],
    ['text after the root', '<a/>x'],
    ['an unclosed tag', '<a><b></a>'],
    ['a wrong end tag', '<a></b>'],
    ['a DOCTYPE', '<!DOCTYPE a><a/>'],
    ['a processing instruction', '<a><?p x?></a>'],
    ['an instruction that begins like the declaration', '<a><?xml-stylesheet x?></a>'],
    ['a raw ampersand', '<a>&</a>'],
    ['an ampersand without semicolon', '<a>&amp</a>'],
    ['an undeclared entity', '<a>&nbsp;</a>'],
    ['a null reference', '<a>&#0;</a>'],
    ['a surrogate reference', '<a>&#xD800;</a>'],
    ['a control character', '<a>\u0001</a>'],
    [']]> in text', '<a>]]></a>'],
    ['an undeclared prefix', '<x:a/>'],
    ['an undeclared attribute prefix', '<a x:b="1"/>'],
    ['a prefix bound to nothing', '<a xmlns:x=""/>'],
    ['an attribute twice by name', '<a b="1" b="2"/>'],
    ['an attribute twice by namespace', '<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>'],
    ['a name with two colons', '<a xmlns:x="u"><x:y:z/></a>'],
    ['an unquoted attribute', '<a b=1/>'],
    ['nothing', ''],
  ])('%s is refused', (_what, xml) => {
    expect(() => readXml(xml)).toThrow();
  });

  test('invalid UTF-8 and too much nesting are refused', () => {
    expect(() => readXml(Buffer.from([0x3c, 0x61, 0x3e, 0xc3, 0x3c, 0x2f, 0x61, 0x3e]))).toThrow(/UTF-8/);
    expect(() => readXml(`${'<a>'.repeat(200)}${'</a>'.repeat(200)}`)).toThrow();
  });

  test('values stay the text they are', () => {
    for (const text of ['007', '1e5', '0x1F', 'true', ' a ', '\u00a0'])
      expect(plainText(readXml(`<a>${text}</a>`))).toBe(text);
    expect(plainText(readXml('<a>x<!-- c -->y<![CDATA[<z>]]>&#x41;&lt;</a>'))).toBe('xy<z>A<');
    expect(plainText(readXml('<a>x<b/></a>'))).toBeUndefined();
  });

  test('names are resolved by namespace, prefixes do not matter', () => {
    const root = readXml(
      '\ufeff<?xml version="1.0"?><p:a xmlns:p="u" xmlns="v" p:k="1" k="2"><b/><p:b xmlns:p="w"/></p:a>',
    );
    expect([root.ns, root.local]).toEqual(['u', 'a']);
    expect(attributeOf(root, 'u', 'k')).toBe('1');
    expect(attributeOf(root, '', 'k')).toBe('2');
    expect(childrenOf(root, 'v', 'b')).toHaveLength(1);
    expect(onlyChild(root, 'w', 'b')?.prefix).toBe('p');
    expect(onlyChild(readXml('<a><b/><b/></a>'), '', 'b')).toBeUndefined();
  });

  // fast-xml-parser reads <toString/> as another element, so such a document is refused as a whole.
  test('elements called like properties of objects are refused', () => {
    expect(() => readXml('<a><toString/></a>')).toThrow(XmlRefused);
    expect(() => readXml('<a xmlns:x="u"><x:hasOwnProperty>1</x:hasOwnProperty></a>')).toThrow(XmlRefused);
    expect(() => readXml('<a constructor="1"/>')).toThrow(XmlRefused);
    expect(() => readXml('<constructor:a/>')).toThrow(XmlRefused);
    expect(() => readXml('<a><__proto__/></a>')).toThrow(XmlRefused);
  });

  test('what is escaped reads back as it was', () => {
    const odd = 'a<b>&"\'\r\n\tü]]>';
    const root = readXml(`<a k="${escapeAttribute(odd)}">${escapeText(odd)}</a>`);
    expect(attributeOf(root, '', 'k')).toBe(odd);
    expect(plainText(root)).toBe(odd);
  });
});
