import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { parseXml } from '../../src/xml/parse.js';
import type { ParseOptions } from '../../src/xml/parse.js';
import { attribute, child, text } from '../../src/xml/tree.js';
import type { XmlDocument } from '../../src/xml/tree.js';

const options: ParseOptions = { maxBytes: 1 << 20, depth: 64, uniqueIds: true };
const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

function parse(xml: string | Uint8Array, more: Partial<ParseOptions> = {}): XmlDocument {
  return parseXml(typeof xml === 'string' ? Buffer.from(xml) : xml, { ...options, ...more });
}

function refusal(xml: string | Uint8Array, more: Partial<ParseOptions> = {}): { code: string; detail: string } {
  try {
    parse(xml, more);
  } catch (error) {
    if (error instanceof As4OnceError) return { code: error.code, detail: error.detail };
    throw error;
  }
  return { code: 'accepted', detail: '' };
}

describe('the tree', () => {
  it('keeps names, namespaces, attributes, declarations, text and comments in document order', () => {
    const { root } = parse('<p:a xmlns:p="urn:p" xmlns="urn:d" x="1" p:y="2"><b>t<!--c-->u</b></p:a>');
    expect(root).toMatchObject({ name: 'p:a', prefix: 'p', local: 'a', uri: 'urn:p', parent: undefined });
    expect(root.declarations).toEqual([
      ['p', 'urn:p'],
      ['', 'urn:d'],
    ]);
    expect(root.attributes).toEqual([
      { name: 'x', prefix: '', local: 'x', uri: '', value: '1' },
      { name: 'p:y', prefix: 'p', local: 'y', uri: 'urn:p', value: '2' },
    ]);
    const b = child(root, 'urn:d', 'b')!;
    expect(b.parent).toBe(root);
    expect(b.children.map((n) => n.kind)).toEqual(['text', 'comment', 'text']);
    expect(text(b)).toBe('tu');
  });

  it('resolves CDATA sections, character references and the five entities into text', () => {
    expect(text(parse('<a>1<![CDATA[<2>]]>&#x33;&#52;&lt;&gt;&amp;&quot;&apos;</a>').root)).toBe('1<2>34<>&"\'');
  });

  it('normalises line ends and attribute white space as XML 1.0 2.11 and 3.3.3 say', () => {
    const { root } = parse('<a b="1\r\n2\t3&#10;4">x\r\ny\rz</a>');
    expect(attribute(root, '', 'b')).toBe('1 2 3\n4');
    expect(text(root)).toBe('x\ny\nz');
  });

  it('knows elements by wsu:Id, xml:id, Id, ID and id', () => {
    const { ids } = parse(
      `<a xmlns:u="${WSU}"><b u:Id="1"/><c xml:id="2"/><d Id="3"/><e ID="4"/><f id="5"/><g u:Id="6" id="6"/></a>`,
    );
    expect([...ids].map(([id, e]) => `${id}${e.local}`)).toEqual(['1b', '2c', '3d', '4e', '5f', '6g']);
  });

  it('is not fooled by names that JavaScript objects have', () => {
    const { root } = parse('<__proto__ constructor="1" __proto__="2"><hasOwnProperty/></__proto__>');
    expect(root.attributes.map((a) => [a.name, a.value])).toEqual([
      ['constructor', '1'],
      ['__proto__', '2'],
    ]);
  });
});

describe('encodings', () => {
  const xml = '<a>é€😀</a>';
  const utf16 = (text: string, bom: boolean): Buffer =>
    Buffer.concat([bom ? Buffer.of(0xff, 0xfe) : Buffer.alloc(0), Buffer.from(text, 'utf16le')]);
  const bigEndian = (bytes: Buffer): Buffer => Buffer.from(bytes).swap16();
  const accepted: Record<string, Uint8Array> = {
    'UTF-8': Buffer.from(xml),
    'UTF-8 with byte order mark and blanks before the root': Buffer.from(`\ufeff\n ${xml}`),
    'UTF-8, declared in lower case': Buffer.from(`<?xml version='1.0' encoding='utf-8'?>${xml}`),
    'UTF-16LE with byte order mark': utf16(`<?xml version="1.0" encoding="UTF-16"?>${xml}`, true),
    'UTF-16BE with byte order mark': bigEndian(utf16(`<?xml version="1.0" encoding="UTF-16"?>${xml}`, true)),
    'UTF-16LE without one': utf16(`<?xml version="1.0" encoding="UTF-16LE"?>${xml}`, false),
    'UTF-16BE without one': bigEndian(utf16(`<?xml version="1.0" encoding="UTF-16"?>${xml}`, false)),
  };
  for (const [name, bytes] of Object.entries(accepted))
    it(`reads ${name}`, () => expect(text(parse(bytes).root)).toBe('é€😀'));

  it('takes a Latin declaration only where the bytes are ASCII, so that nobody reads other characters', () => {
    const latin = '<?xml version="1.0" encoding="ISO-8859-1"?>';
    expect(text(parse(`${latin}<a>x</a>`).root)).toBe('x');
    expect(refusal(`${latin}<a>é</a>`).code).toBe('XML_BROKEN');
    expect(refusal('<a>é</a>', { charset: 'iso-8859-1' }).code).toBe('XML_BROKEN');
    expect(text(parse('<a>é</a>', { charset: 'UTF-8' }).root)).toBe('é');
  });

  it('takes UTF-16 without a byte order mark only where it is named: others take it for UTF-8, and so for broken', () => {
    for (const bytes of [utf16(xml, false), bigEndian(utf16(xml, false)), utf16(`<?xml version="1.0"?>${xml}`, false)]) {
      expect(refusal(bytes).code).toBe('XML_BROKEN');
      expect(refusal(bytes, { charset: 'UTF-16' }).code).toBe('accepted');
    }
  });

  it('holds UTF-16 to the byte order that is named: a reader that believes the name reads other characters', () => {
    const named = (name: string): Buffer => utf16(`<?xml version="1.0" encoding="${name}"?>${xml}`, true);
    expect(refusal(named('UTF-16LE')).code).toBe('accepted');
    expect(refusal(named('UTF-16BE')).code).toBe('XML_BROKEN');
    expect(refusal(bigEndian(named('UTF-16LE'))).code).toBe('XML_BROKEN');
    expect(refusal(bigEndian(named('UTF-16')), { charset: 'utf-16le' }).code).toBe('XML_BROKEN');
  });

  it('reads an XML declaration however it is spaced and quoted', () => {
    for (const declaration of [
      '<?xml version="1.0"?>', "<?xml version='1.0'?>", '<?xml\tversion = "1.0"\r\nencoding\t=\t\'utf-8\' standalone = "yes" ?>', '<?xml version="1.0" standalone="no"?>',
    ]) expect(text(parse(`${declaration}<a>x</a>`).root)).toBe('x');
    for (const declaration of [
      '<?xml?>', '<?xml encoding="utf-8"?>', '<?xml version="1.0"encoding="utf-8"?>', '<?xml version="1.0" standalone="no" encoding="utf-8"?>',
      '<?xml version="2.0"?>', '<?xml version="1.0\'?>', '<?xml version="1.0" encoding="8"?>', ' <?xml version="1.0"?>', '\ufeff\ufeff',
    ]) expect(refusal(`${declaration}<a>x</a>`).code).toBe('XML_BROKEN');
  });

  const broken: Record<string, Uint8Array> = {
    'a byte that is no UTF-8': Buffer.concat([Buffer.from('<a>'), Buffer.of(0xff), Buffer.from('</a>')]),
    'an overlong sequence': Buffer.concat([Buffer.from('<a>'), Buffer.of(0xc0, 0xbc), Buffer.from('</a>')]),
    'a surrogate in UTF-8': Buffer.concat([Buffer.from('<a>'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('</a>')]),
    'a lone surrogate in UTF-16': utf16('<a>\ud800</a>', true),
    'UTF-16 declared, UTF-8 sent': Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a/>'),
    'UTF-8 declared, UTF-16 sent': utf16('<?xml version="1.0" encoding="UTF-8"?><a/>', true),
    'XML 1.1': Buffer.from('<?xml version="1.1"?><a/>'),
    'a NUL': Buffer.from('<a>\0</a>'),
    'nothing at all': Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(broken))
    it(`refuses ${name}`, () => expect(refusal(bytes).code).toBe('XML_BROKEN'));
});

describe('what is refused', () => {
  const broken = [
    '<a>',
    '<a></b>',
    '<a/><b/>',
    'x<a/>',
    '<a/>x',
    '<a b=1/>',
    '<a b="1" b="2"/>',
    '<a>&x;</a>',
    '<a>&</a>',
    '<a>]]></a>',
    '<p:a/>',
    '<a p:b=""/>',
    '<a xmlns:p="u" xmlns:q="u" p:x="" q:x=""/>',
    '<?a??><a/>',
    '<p:-a xmlns:p="u"/>',
    '<a xmlns:p="u" p:1="x"/>',
    '<a xmlns:1="u"/>',
    '<a xmlns:p=" u"/>',
    '<a>&#0;</a>',
    '<a>&#xD800;</a>',
    '<a b="<"/>',
    '<a><!-- -- --></a>',
    '<a xmlns:p=""/>',
    '<a',
    '<a><![CDATA[',
  ];
  for (const xml of broken) it(`not well-formed: ${xml}`, () => expect(refusal(xml).code).toBe('XML_BROKEN'));

  it('says line and column', () => {
    expect(refusal('<a>\n  <b>\n</a>').detail).toMatch(/^line 3, column \d+: /);
    expect(refusal('<a>\n<?x?></a>').detail).toMatch(/^line 2, column \d+: processing instruction$/);
  });

  it('says the place of a reference, a bracket or a sign, not of the text or value that it stands in', () => {
    expect(refusal('<a>&lt;x\r\n\r &amp;&y;&</a>').detail).toBe("line 3, column 7: '&' begins no reference");
    expect(refusal('<a>\r\n&#9;&#0;</a>').detail).toBe("line 2, column 5: '&#0;' stands for no character");
    expect(refusal("<a b='x\n\t&z;'/>").detail).toBe("line 2, column 2: '&' begins no reference");
    expect(refusal('<a>x\n]]]></a>').detail).toBe("line 2, column 2: ']]>' in character data");
    expect(refusal('<a b="x\n <"/>').detail).toBe("line 2, column 2: '<' in the value of 'b'");
  });

  it('stops at the first wrong reference: to look for all the others first took half a second for 1 MiB of &', () => {
    // what it costs is in `npm run bench -- xml`
    const detail = "line 1, column 4: '&' begins no reference";
    expect(refusal(`<a>${'&'.repeat(1_000_000)}</a>`)).toEqual({ code: 'XML_BROKEN', detail });
  });

  it('in few words, however long what is refused: references and versions of 1 MiB went whole into the log', () => {
    const long = '1'.repeat(1_000_000);
    for (const xml of [
      `<a>&#${long};</a>`, `<a b="&#x${long};"/>`, `<?xml version="1.${long}"?><a/>`, `<?xml version="1.0" encoding="x${long}"?><a/>`,
      `<a${long}`, `<a${long}></a>`, `<a b${long}/>`, `<a b${long}=""`, `<a b${long}="<"/>`, `<b${long}:a/>`, `<a xmlns:x${long}=""/>`,
      `<a><b Id="${long}"/><b Id="${long}"/></a>`, `<?x${long}`, `<a>&x${long};</a>`,
    ]) {
      const { code, detail } = refusal(xml, { maxBytes: 1 << 22 });
      expect(code).not.toBe('accepted');
      expect(detail.length).toBeLessThan(200);
    }
  });

  it('DOCTYPE, with and without a subset, and so every entity bomb and external entity', () => {
    expect(refusal('<!DOCTYPE a><a/>').code).toBe('XML_FORBIDDEN');
    expect(refusal('<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>').code).toBe('XML_FORBIDDEN');
    expect(refusal('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>').code).toBe('XML_FORBIDDEN');
  });

  it('processing instructions in the root element; in front of it and behind it they say nothing and are skipped', () => {
    for (const xml of ['<a><?x y?></a>', '<?xml version="1.0"?><a><?xml-stylesheet x?></a>', '<a><b><?x?></b></a>']) {
      expect(refusal(xml).code).toBe('XML_FORBIDDEN');
    }
    for (const xml of [
      '<?x?><a/>',
      '<a/><?x?>',
      '<?xml version="1.0"?><?x <b/> ?><a/>',
      '<?xml-stylesheet href="x"?><a/>',
    ]) {
      expect(parse(xml).root).toMatchObject({ local: 'a', children: [] });
    }
  });

  it('a document that is too long, before it is looked at', () => {
    expect(refusal('<a/>', { maxBytes: 3 })).toEqual({ code: 'ROOT_TOO_LARGE', detail: '4 bytes, at most 3' });
  });

  it('nesting beyond the bound while parsing: a parser that takes square time over depth spent two minutes on 100,000 levels', () => {
    expect(refusal('<a>'.repeat(64) + '</a>'.repeat(64)).code).toBe('accepted');
    expect(refusal('<a>'.repeat(65) + '</a>'.repeat(65)).code).toBe('XML_TOO_DEEP');
    expect(refusal('<a>'.repeat(300_000)).code).toBe('XML_TOO_DEEP');
  });

  it('more than a thousand attributes or declarations on one element', () => {
    const many = (n: number, name: string): string =>
      `<a ${Array.from({ length: n }, (_, i) => `${name}${i}="u"`).join(' ')}/>`;
    expect(refusal(many(1_000, 'x')).code).toBe('accepted');
    expect(refusal(many(1_001, 'x')).code).toBe('XML_BROKEN');
    expect(refusal(many(60_000, 'xmlns:x')).code).toBe('XML_BROKEN');
  });
});

describe('the cost', () => {
  it('of namespace names is bounded: one of 500 KiB came 20,000 times into canonical form, more than a string holds', () => {
    const of = (uri: string, inside: string, times: number): string => `<a xmlns:p="${uri}">${inside.repeat(times)}</a>`;
    const long = 'u'.repeat(500_000);
    expect(refusal(of(long, '<p:b/>', 67)).code).toBe('accepted');
    expect(refusal(of(long, '<p:b/>', 68)).detail).toMatch(/^line 1, column \d+: namespace names of more than 33554432 characters, written out$/);
    expect(refusal(of(long, '<b p:x="" p:y=""/>', 20_000)).code).toBe('XML_BROKEN');
    // '&' is five characters there
    expect(refusal(of('&#38;'.repeat(500), '<p:b/>', 14_000)).code).toBe('XML_BROKEN');
  });

  it('of namespace names of a usual length is never held against a document, however many names it has', () => {
    for (const inside of ['<a/>', '<p:a/>', '<a p:x=""/>']) {
      const head = `<r xmlns="${'u'.repeat(128)}" xmlns:p="${'v'.repeat(128)}">`;
      const xml = `${head}${inside.repeat(Math.floor(((1 << 20) - head.length - 4) / inside.length))}</r>`;
      expect(refusal(xml).code).toBe('accepted');
    }
  });

  it('of an id that repeats is the same whatever its first bearer: a thousand attributes there made 1 MiB take a second', () => {
    const id = 'y'.repeat(100);
    const many = Array.from({ length: 990 }, (_, i) => ` a${i}="${'y'.repeat(99)}z"`).join('');
    // what it costs is in `npm run bench -- xml`
    const { ids } = parse(`<s:E xmlns:s="urn:s"><s:Body><a id="${id}"${many}/>${`<a id="${id}"/>`.repeat(8_000)}</s:Body></s:E>`);
    expect(ids.size).toBe(0);
  });
});

describe('ids', () => {
  const soap = (header: string, body: string): string =>
    `<s:E xmlns:s="urn:s" xmlns:u="${WSU}"><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:E>`;

  it('two elements with one id are refused, whichever of the attributes names it', () => {
    for (const twice of [
      ['u:Id', 'u:Id'],
      ['u:Id', 'Id'],
      ['id', 'u:Id'],
      ['xml:id', 'ID'],
      ['Id', 'Id'],
    ]) {
      expect(refusal(soap(`<a ${twice[0]}="x"/><b ${twice[1]}="x"/>`, '')).code).toBe('DUPLICATE_ID');
    }
    expect(refusal(soap('<a Id="x"/>', '<b Id="x"/>')).code).toBe('DUPLICATE_ID');
    expect(refusal(soap('', '<a u:Id="x"/><b id="x"/>')).code).toBe('DUPLICATE_ID');
    expect(refusal(soap('', '<a id="x"/><b u:Id="x"/>')).code).toBe('DUPLICATE_ID');
  });

  it('are not compared where the caller does not ask', () => {
    expect(refusal(soap('<a u:Id="x"/><b u:Id="x"/>', ''), { uniqueIds: false }).code).toBe('accepted');
  });

  it('a business document in the Body may use id as it likes; no signature can be taken to mean its elements then', () => {
    // Order lines and styled text repeat plain id attributes; refusing them would stop messages that access points take.
    const { ids } = parse(soap('<h u:Id="h"/>', '<a id="1"/><b><c id="1"/><d Id="2"/></b>'));
    expect([...ids.keys()].sort()).toEqual(['2', 'h']);
  });
});

it('never throws anything but a refusal, and never hangs, on mutations of a good document', () => {
  const good = Buffer.from(
    '<?xml version="1.0"?><s:E xmlns:s="urn:s"><s:H a="1" Id="2"><!--c--><![CDATA[d]]>&amp;e</s:H></s:E>',
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        expect(['accepted', 'XML_BROKEN', 'XML_FORBIDDEN', 'DUPLICATE_ID']).toContain(refusal(bytes).code);
      },
    ),
    { numRuns: 2_000 },
  );
});
