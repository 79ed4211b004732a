import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { BusinessDocumentReader, describeSbdh, type BusinessDocument } from '../../src/edi/sbdh.js';
import { ownRoot, sbd } from './samples.js';

function read(text: string | Uint8Array): BusinessDocument {
  const reader = new BusinessDocumentReader();
  reader.push(typeof text === 'string' ? Buffer.from(text) : text);
  return reader.end();
}

function refusal(text: string | Uint8Array): string {
  try {
    read(text);
  } catch (error) {
    expect(error).toBeInstanceOf(As4OnceError);
    expect((error as As4OnceError).code).toBe('SBDH_BROKEN');
    return (error as As4OnceError).detail;
  }
  throw new Error('was not refused');
}

describe('Standard Business Documents', () => {
  it('are named by the identifier of the document, never by that of a scope', () => {
    expect(read(sbd({ id: ' doc-1\n' }))).toMatchObject({
      root: 'StandardBusinessDocument', instanceIdentifierOccurrences: 3,
      header: {
        instanceIdentifier: 'doc-1', sender: { authority: 'iso6523-actorid-upis', value: '0088:1' }, receiver: { value: '0088:2' }, type: 'Invoice',
        scopes: [{ type: 'DOCUMENTID', instanceIdentifier: 'urn:x::Invoice##c::2.1', identifier: 'busdox-docid-qns' }, { type: 'PROCESSID', instanceIdentifier: 'urn:process' }],
      },
      payload: { name: 'Invoice', namespace: 'urn:x', ID: 'INV1' },
    });
  });

  it('may hold documents whose own elements look like the header', () => {
    const payload = '<x:StandardBusinessDocumentHeader xmlns:x="urn:other"><InstanceIdentifier>evil</InstanceIdentifier><Sender/></x:StandardBusinessDocumentHeader>';
    expect(read(sbd({ payload })).header?.instanceIdentifier).toBe('doc-1');
  });

  it('resolve entities and CDATA in values and ignore comments', () => {
    expect(read(sbd({ id: 'a&amp;<!-- no -->b<![CDATA[<c>]]>' })).header?.instanceIdentifier).toBe('a&b<c>');
  });

  it('may come in UTF-16, or in the encoding they declare', () => {
    const text = sbd({ id: 'ä', prolog: '<?xml version="1.0" encoding="UTF-16"?>' });
    expect(read(Buffer.from(`\ufeff${text}`, 'utf16le')).header?.instanceIdentifier).toBe('ä');
    const latin = sbd({ id: 'ä', prolog: '<?xml version="1.0" encoding="ISO-8859-1"?>' });
    expect(read(Buffer.from(latin, 'latin1')).header?.instanceIdentifier).toBe('ä');
  });

  it('are read whatever the size of the document inside, without keeping it', () => {
    const reader = new BusinessDocumentReader();
    const [head = '', tail = ''] = sbd({ payload: '<p>@</p>' }).split('@');
    const chunk = Buffer.alloc(1024 * 1024, 'QUJD');
    reader.push(Buffer.from(head));
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 32; i += 1) reader.push(chunk);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
    reader.push(Buffer.from(tail));
    expect(reader.end().payload.name).toBe('p');
  });

  it('without header are business documents', () => {
    const document = read('<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><Order xmlns="urn:o"><c:ID xmlns:c="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">34</c:ID><ID>x</ID></Order>');
    expect(document).toEqual({ root: 'Order', rootNamespace: 'urn:o', payload: { name: 'Order', namespace: 'urn:o', ID: '34' }, instanceIdentifierOccurrences: 0 });
  });

  it('may carry the header as the first child of their own root, as GS1 XML 3 does', () => {
    // such messages were read as documents without any header, and a route of protocol sbdh refused them
    expect(read(ownRoot({ id: 'cic-1' }))).toMatchObject({
      root: 'itemMessage', rootNamespace: 'urn:gs1:item', instanceIdentifierOccurrences: 3,
      header: { instanceIdentifier: 'cic-1', sender: { authority: 'GS1', value: '0088:1' }, type: 'Invoice' },
      payload: { name: 'itemMessage', namespace: 'urn:gs1:item' },
    });
    expect(refusal(ownRoot({ id: '' }))).toMatch(/InstanceIdentifier is empty/);
    const second = '<sh:StandardBusinessDocumentHeader/>';
    expect(refusal(ownRoot({ last: second }))).toMatch(/second or late/);
    expect(read(ownRoot({ first: '<transaction/>' }))).not.toHaveProperty('header');
  });

  it('tell by the first child of their root whether they have a header, and no later', () => {
    const early = (text: string): unknown => {
      const reader = new BusinessDocumentReader();
      reader.push(Buffer.from(text.padEnd(512)));
      return typeof reader.early === 'object' ? reader.early.instanceIdentifier : reader.early;
    };
    const invoice = '<Invoice xmlns="urn:x">';
    expect([early(invoice), early(`${invoice}<ID>`)]).toEqual([undefined, 'none']);
    const own = ownRoot({ id: 'cic-1' });
    const [begun, ended] = ['<sh:Type>Invoice', '</sh:StandardBusinessDocumentHeader>'].map((mark) => own.slice(0, own.indexOf(mark) + mark.length));
    expect([early(begun ?? ''), early(ended ?? '')]).toEqual([undefined, 'cic-1']);
    const enveloped = sbd({ payload: '<Invoice>' });
    expect([early(enveloped.slice(0, enveloped.indexOf('<Invoice>'))), early(enveloped.slice(0, enveloped.indexOf('</Standard')))]).toEqual([undefined, undefined]);
    expect(early(enveloped.slice(0, enveloped.indexOf('<Invoice>') + 9))).toBe('doc-1');
  });

  it('may have a header of any version, except in Peppol', () => {
    // Danish health care sends 2.2; only Peppol's envelope demands 1.0 of what the standard leaves a string
    expect(read(sbd({ version: '2.2', authority: 'EAN.UCC' })).header).toMatchObject({ headerVersion: '2.2', instanceIdentifier: 'doc-1' });
    expect(describeSbdh(Buffer.from(sbd({ version: '2.2', authority: 'EAN.UCC' })))['note']).toMatch(/HeaderVersion '2.2'/);
    expect(describeSbdh(Buffer.from(sbd()))).not.toHaveProperty('note');
  });

  it('may leave empty what names nothing', () => {
    // <sh:Standard/> is valid by the schema, and real writers leave it so; it was refused
    const empty = sbd().replace('<Standard>urn:x</Standard>', '<Standard/>').replace('>2.1<', '><').replace('<Type>Invoice<', '<Type><');
    expect(read(empty).header).toMatchObject({ standard: '', typeVersion: '', type: '', instanceIdentifier: 'doc-1' });
  });

  const without = (element: string): string => sbd().replace(new RegExp(`<${element}>[^<]*</${element}>`), '');
  const once = '<DocumentIdentification><InstanceIdentifier>2</InstanceIdentifier></DocumentIdentification>';
  it.each<[string, string | Buffer, RegExp]>([
    ['no header', '<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader"><a/></StandardBusinessDocument>', /no StandardBusinessDocumentHeader/],
    ['the header alone', sbd().replace(/^.*?<StandardBusinessDocument xmlns="([^"]*)"><StandardBusinessDocumentHeader>/, '<StandardBusinessDocumentHeader xmlns="$1">').replace(/<Invoice.*$/, ''), /alone/],
    ['a root in no namespace', sbd().replace(/ xmlns="http:[^"]*"/, ''), /namespace/],
    ['no payload', sbd({ payload: '' }), /no business message/],
    ['two payloads', sbd({ payload: '<a/><b/>' }), /more than one business message/],
    ['two headers', sbd({ payload: '<StandardBusinessDocumentHeader/><a/>' }), /second or late/],
    ['another version', sbd({ version: '1.5' }), /HeaderVersion '1.5'/],
    ['no identifier', without('InstanceIdentifier'), /InstanceIdentifier is missing/],
    ['an empty identifier', sbd({ id: ' ' }), /InstanceIdentifier is empty/],
    ['two identifiers', sbd({ head: once }), /two InstanceIdentifier/],
    ['an identifier that is too long', sbd({ id: 'x'.repeat(256) }), /longer than 255/],
    ['an element inside the identifier', sbd({ id: 'a<b/>c' }), /element 'b' inside a value/],
    ['a processing instruction inside the identifier', sbd({ id: 'a<?b?>c' }), /processing instruction/],
    ['two senders', sbd({ head: '<Sender><Identifier>0088:3</Identifier></Sender>' }), /2 Sender elements/],
    ['two receivers', sbd({ head: '<Receiver/>' }), /2 Receiver elements/],
    ['a sender with two identifiers', sbd().replace('</Sender>', '<Identifier>x</Identifier></Sender>'), /must hold one Identifier/],
    ['an empty sender', sbd({ sender: '' }), /Identifier of Sender is empty/],
    ['no date', sbd({ date: '' }), /CreationDateAndTime is empty/],
    ['no real date', sbd({ date: '2024-13-01T00:00:00Z' }), /no date and time/],
    ['a DOCTYPE', sbd({ prolog: '<!DOCTYPE a>' }), /DOCTYPE/],
    ['ill-formed XML', sbd().replace('</HeaderVersion>', ''), /line 1/],
    ['an undeclared prefix', sbd({ payload: '<x:a/>' }), /unbound namespace prefix/],
    ['wrong UTF-8', Buffer.from(sbd({ id: 'ä' }), 'latin1'), /not utf-8/],
    ['an unknown encoding', sbd({ prolog: '<?xml version="1.0" encoding="EBCDIC-X"?>' }), /encoding 'ebcdic-x'/],
    ['too much depth', sbd({ payload: `${'<a>'.repeat(70)}${'</a>'.repeat(70)}` }), /deeper than 64/],
    ['an end too early', sbd().slice(0, -5), /./],
    ['nothing', '', /./],
    ['an endless value', sbd({ id: 'x'.repeat(2 * 1024 * 1024) }), /too long/],
  ])('%s is refused', (_what, text, reason) => {
    expect(refusal(text)).toMatch(reason);
  });
});
