import fc from 'fast-check';

/** Documents that are nearly XML: good ones with a few bytes changed, and pieces of markup put together. */

const nasty = fc.constantFrom(
  '<',
  '>',
  '&',
  '"',
  "'",
  '/',
  '=',
  ' ',
  '\t',
  '\r',
  '\n',
  '\0',
  '\u0001',
  ']]>',
  '<!--',
  '-->',
  '<![CDATA[',
  '&#x0;',
  '&#13;',
  '&#xD;',
  '&lt;',
  '&x;',
  'xmlns=""',
  ' xmlns:eb="urn:x"',
  ' a="1" a="2"',
  ' xml:id="x"',
  '<a/>',
  '<a>',
  '</a>',
  'é',
  '\ufeff',
  '\ufffe',
  '😀',
  '<!DOCTYPE a>',
  '<?a?>',
  ':',
  'xml:',
  'xmlns:xml="u"',
);

/** `base` with one to three changes. */
export function mutated(base: Buffer): fc.Arbitrary<Buffer> {
  const change = fc.record({
    at: fc.nat(base.length),
    remove: fc.constantFrom(0, 0, 1, 2, 30),
    insert: fc.oneof(
      nasty.map((s) => Buffer.from(s)),
      fc.uint8Array({ maxLength: 2 }).map((b) => Buffer.from(b)),
    ),
  });
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce<Buffer>(
        (bytes, { at, remove, insert }) =>
          Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(Math.min(at + remove, bytes.length))]),
        base,
      ),
    );
}

const inTag = fc.constantFrom(
  ' xmlns="urn:d"', ' xmlns=""', ' xmlns:p="urn:p"', ' xmlns:q="urn:p"', ' xmlns:p=""', ' xmlns:xml="http://www.w3.org/XML/1998/namespace"',
  ' xmlns:xmlns="u"', ' xmlns="http://www.w3.org/2000/xmlns/"', ' xmlns:r="http://www.w3.org/XML/1998/namespace"', ' xmlns:p=" u"',
  ' x="1"', " y = 'a\tb\r\nc'", ' p:x="1"', ' q:x="2"', ' xml:lang="de"', ' w="&lt;&#9;&#xA;"', ' v="<"', ' u=\'"\'', 'z="1"', ' t', ' é="1"',
  ' s="]]>"', ' r="--"', ' k="&"', ' l=""', ' m="\u0085 \u00a0"', '\n', ' ', '/',
);
const content = fc.constantFrom(
  '<b>', '</b>', '<p:b>', '</p:b>', '<b/>', '</b >', '<b\n>', '</ b>', '< b>', '<b/ >', '<b', '>', '"', 't', ' ', '\r', '\r\n', '\n',
  '&amp;', '&#65;', '&#x1F600;', '&#13;', '&#xD800;', '&#xFFFE;', '&#1;', '&#x110000;', '&#99999999999999999999;', '&', '&x;', '&#;', '&#x;', '&#X41;', '&AMP;',
  ']]>', ']]', ']', '😀', 'é', '\u00b7', '\u0001', '\u007f', '\ufffe', '\u0085', '\u2028',
  '<![CDATA[<&]]>', '<![CDATA[]]>', '<![CDATA[]]]]>', '<![CDATA[\r\n]]>', '<![cdata[x]]>', '<!--c-->', '<!---->', '<!--->', '<!--a--b-->', '<!--a--->', '<!--\r-->',
  '<?a b?>', '<?a?>', '<?a??>', '<?xml version="1.0"?>', '<?XML a?>', '<!DOCTYPE a>', '<!a>',
  '<é></é>', '<a:b:c/>', '<p:/>', '<:a/>', '<_/>', '<a.b-c_1/>', '<1/>', '<\u00b7/>', '<a\u00b7/>', '<\u{10000}/>', '<\u{F0000}/>', '<xmlns:a/>', '<xml:a/>', '<b x="1" x="1"/>',
);
const good = fc.constantFrom('<b>t</b>', '<p:b p:x="&amp;" x=""/>', 'text\r\n', '&lt;', '<![CDATA[d]]>', '<!--c-->', '<b xmlns="urn:e"><c>é</c></b >', "<b xmlns:p='urn:q'><p:c/></b>");

const HEADS = ['', '', '', '', '<?xml version="1.0"?>', '<?xml version = \'1.0\' encoding="utf-8" ?>', '<?xml version="1.0" standalone="no"?>',
  '<?xml version="1.0"encoding="utf-8"?>', '<?xml encoding="utf-8"?>', '<?xml version="1.0" encoding=""?>', '<?xml version="1.0" standalone="maybe"?>',
  '<?xml version="2.0"?>', '<?xml?>', ' <?xml version="1.0"?>', '\ufeff', '\ufeff\ufeff', '<!--c-->', '<?a b?>\n', '<?a??>', '<?a:b?>', '<?xml-a?>'];

/** Markup, text and references in any order inside a root element that is mostly closed; one in six is XML. */
export const soup: fc.Arbitrary<Buffer> = fc.tuple(
  fc.constantFrom(...HEADS),
  fc.array(inTag, { maxLength: 2 }),
  fc.array(fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: content }), { maxLength: 6 }),
  fc.constantFrom('</p:a>', '</p:a>', '</p:a>', '</p:a>', '</p:a\n> ', '</p:a><!--e-->', '</p:a><?e?>', '</p:a>x', '</p:a><a/>', ''),
).map(([head, tag, inside, tail]) => Buffer.from(`${head}<p:a xmlns:p="urn:p"${tag.join('')}>${inside.join('')}${tail}`));
