import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BusinessKeyReader } from '../../src/endpoint/business-keys.js';
import { edifact, sbd, x12 } from '../edi/samples.js';
import { honest, serveEndpoint, type Changes, type Served } from './served.js';

/** What a payload is called in its own world, as a second key beside the MessageId. */

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});
const open = async (payloadKeys: ('sbdh' | 'edifact' | 'x12' | 'ubl')[], more: Changes = {}): Promise<Served> =>
  (served = await serveEndpoint({ defaults: { sbdh: 'off', resend: 'off', payloadKeys }, ...more }));
const delivered = ({ deliveries }: Served): Record<string, unknown>[] => (existsSync(deliveries)
  ? readdirSync(deliveries).map((name) => JSON.parse(readFileSync(join(deliveries, name, 'message.json'), 'utf8')) as Record<string, unknown>) : []);

const invoice = (number: string, sender = '991000001', note = ''): string => `<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
 xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2" xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
 <cbc:ID>${number}</cbc:ID><cbc:Note>${note}</cbc:Note><cac:AccountingSupplierParty><cac:Party><cbc:EndpointID schemeID="0192">${sender}</cbc:EndpointID></cac:Party></cac:AccountingSupplierParty>
 <cac:AccountingCustomerParty><cac:Party><cbc:EndpointID schemeID="0192">9</cbc:EndpointID></cac:Party></cac:AccountingCustomerParty></Invoice>`;

const PEPPOL = 'http://peppol.eu/xsd/ticc/envelope/1.0';
const binary = (content: string, id = 'one'): string =>
  sbd({ id, payload: `<BinaryContent xmlns="${PEPPOL}" mimeType="application/EDI">${content}</BinaryContent>` });
/** Base64 as most writers have it: in lines, indented. */
const lines = (content: string): string =>
  `\n  ${Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n  ')}\n`;
const escaped = (content: string): string => content.replaceAll("'", '&apos;');
const text = (content: string, id = 'one'): string =>
  sbd({ id, payload: `<p:TextContent xmlns:p="${PEPPOL}" mimeType="application/EDIFACT">${content}</p:TextContent>` });
const inRoot = (content: string): string => sbd({ payload: `<Interchange xmlns="urn:x">${content}</Interchange>` });

const keysOf = (payload: string | Buffer, size = Infinity): ReturnType<BusinessKeyReader['end']> => {
  const bytes = Buffer.from(payload);
  const reader = new BusinessKeyReader();
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return reader.end();
};

describe('payloadKeys', () => {
  it.each([
    ['edifact', edifact('4711'), edifact('4712'), 'edifact 4711'],
    ['x12', x12('905'), x12('906'), 'x12 000000905'],
    ['ubl', invoice('INV-1'), invoice('INV-2'), 'ubl Invoice INV-1'],
    ['ubl', sbd({ id: 'one', payload: invoice('INV-1') }), sbd({ id: 'two', payload: invoice('INV-1', '991000002') }), 'ubl Invoice INV-1'],
    ['edifact', binary(lines(edifact('4711'))), binary(lines(edifact('4712')), 'two'), 'edifact 4711'],
    ['edifact', text(escaped(edifact('4711'))), text(edifact('4712'), 'two'), 'edifact 4711'],
    ['x12', binary(lines(x12('905'))), binary(lines(x12('906')), 'two'), 'x12 000000905'],
    ['x12', text(x12('905')), text(x12('906'), 'two'), 'x12 000000905'],
  ] as const)('%s: the same one under a new MessageId is delivered, marked with the first MessageId; another one is not marked', async (kind, payload, other, reference) => {
    const on = await open([kind]);
    const [first, again, different] = [honest({ payloads: [payload] }), honest({ payloads: [payload] }), honest({ payloads: [other] })];
    for (const message of [first, again, different]) expect((await on.post(message)).what).toBe('receipt');
    const found = (id: string): Record<string, unknown> | undefined => delivered(on).find((one) => one['messageId'] === id);
    expect(found(first.messageId)).toMatchObject({ mark: 'first', documents: [{ kind: 'business', reference }] });
    expect(found(again.messageId)).toMatchObject({ mark: 'resend', firstId: first.messageId });
    expect(found(different.messageId)).toMatchObject({ mark: 'first' });
  });

  it('ubl: the same number with other content is marked too', async () => {
    const on = await open(['ubl']);
    const first = honest({ payloads: [invoice('INV-1')] });
    const second = honest({ payloads: [invoice('INV-1', '991000001', 'corrected')] });
    await on.post(first);
    await on.post(second);
    expect(delivered(on).find((one) => one['messageId'] === second.messageId)).toMatchObject({ mark: 'resend', firstId: first.messageId });
  });

  it('sbdh: asks for the InstanceIdentifier where sbdh: off does not, and only marks', async () => {
    const on = await open(['sbdh']);
    for (let n = 0; n < 2; n += 1) await on.post(honest({ payloads: [sbd({ id: 'one' })] }));
    expect(delivered(on).map((one) => one['mark']).sort()).toEqual(['first', 'resend']);
  });

  it('a partner may have its own, and nobody else is read', async () => {
    const on = await open([], { partners: [{ match: { from: ['SOMEBODY-ELSE'] }, payloadKeys: ['ubl'] }] });
    for (let n = 0; n < 2; n += 1) await on.post(honest({ payloads: [invoice('INV-1')] }));
    expect(delivered(on).map((one) => one['mark'])).toEqual(['first', 'first']);
  });

  it('what cannot be read is delivered without a key', async () => {
    const on = await open(['edifact', 'x12', 'ubl']);
    for (const payload of [edifact('1').slice(0, -5), x12('1').slice(0, 90), '<Invoice><broken',
      invoice('').replace('cbc:EndpointID schemeID', 'cbc:Name a'), Buffer.alloc(0), Buffer.from([0, 1, 2]),
      binary(`${lines(edifact('1'))}*`)]) {
      expect((await on.post(honest({ payloads: [payload] }))).what).toBe('receipt');
    }
    expect(delivered(on).map((one) => one['documents'])).toEqual(Array.from({ length: 7 }));
  });

  it('are the same however the bytes are split', () => {
    for (const payload of [edifact('4711'), x12('905'), invoice('INV-1'), sbd({ payload: invoice('INV-1') })]) {
      const whole = new BusinessKeyReader();
      whole.push(Buffer.from(payload));
      const found = whole.end();
      expect(found).toHaveLength(1);
      for (const size of [1, 7, 50]) {
        const split = new BusinessKeyReader();
        for (let at = 0; at < payload.length; at += size) split.push(Buffer.from(payload.slice(at, at + size)));
        expect(split.end()).toEqual(found);
      }
    }
  });

  describe('of an interchange wrapped in an SBDH', () => {
    it.each([
      ['EDIFACT', edifact('4711')], ['EDIFACT with UNA', edifact('4711', { una: "UNA:+.? '" })], ['X12', x12('905')],
      ['two interchanges', edifact('1') + edifact('2')],
    ])('%s: the keys are those of the bare one, however it is wrapped and split', (_, content) => {
      const bare = keysOf(content);
      expect(bare.length).toBeGreaterThan(0);
      const wrapped = [
        binary(lines(content)), binary(`<![CDATA[${lines(content)}]]>`), inRoot(content),
        text(content), text(escaped(content)), text(`\n<![CDATA[${content}]]>`),
      ];
      for (const payload of wrapped) {
        for (const size of [Infinity, 1, 2, 3, 5, 64, 301]) expect(keysOf(payload, size)).toEqual(bare);
      }
    });

    it('there is none where the content is not all readable, nor where it is wrapped in something else', () => {
      const whole = edifact('4711');
      const encoded = Buffer.from(whole + ' '.repeat(3 - (whole.length % 3))).toString('base64');
      for (const sound of [encoded, `${encoded}IA==`]) expect(keysOf(binary(sound))).toHaveLength(1);
      const none = [
        binary(`${encoded}*`), binary(`${encoded}****`), binary(`${encoded}IA`), binary(`${encoded}IA==IA==`),
        binary(`${encoded.slice(0, 40)}-${encoded.slice(41)}`), binary(encoded.slice(0, 81)), binary(whole),
        binary(lines(whole.slice(0, -5))), binary(encoded).split('</BinaryContent>')[0] ?? '',
        binary(encoded).slice(0, -3), binary(encoded).replace('</Binary', '<!-- c --></Binary'), text(whole.slice(0, -5)),
        text(encoded), text(`${whole}<b/>`), text(`${whole}<!-- c -->`), text(`<b>${whole}</b>`),
        `<Interchange>${whole}</Interchange>`,
      ];
      for (const payload of none) {
        for (const size of [Infinity, 1, 7]) expect(keysOf(payload, size), payload.slice(-200)).toEqual([]);
      }
    });

    it('is found where the content is longer than any value that is gathered', () => {
      // a value that is not read in pieces is refused beyond 1 MiB of text
      const [begin, end] = ["UNB+UNOC:3+S+R+240229:1305+BIG'UNH+1+ORDERS:D:96A:UN'", "UNT+3+1'UNZ+1+BIG'"];
      const middle = `FTX+AAI+++${'x'.repeat(289)}'`.repeat(8_000);
      const head = binary('').split('</BinaryContent>');
      for (const [before, content, after] of [
        [head[0], lines(begin + middle + end), `</BinaryContent>${head[1]}`],
        ...[text('@').split('@')].map(([one, two]) => [one, begin + middle + end, two]),
        ...[text('<![CDATA[@]]>').split('@')].map(([one, two]) => [one, begin + middle + end, two]),
      ]) {
        expect(keysOf(`${before}${content}${after}`, 65_536)).toMatchObject([{ kind: 'edifact', reference: 'BIG' }]);
      }
    });
  });
});
