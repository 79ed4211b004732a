import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { edifactProtocol, sbdhProtocol, x12Protocol } from '../../src/edi/edi-protocol.js';
import type { HeaderList } from '../../src/exchange.js';
import { LIMITS } from '../../src/limits.js';
import { duplicateKey } from '../../src/policy/key.js';
import type { Message } from '../../src/message.js';
import type { Protocol } from '../../src/protocol.js';
import { bytes, edifact, ownRoot, sbd, x12 } from './samples.js';

async function message(protocol: Protocol, body: string | Buffer, headers: HeaderList = []): Promise<Message> {
  const reading = protocol.open({ headers, target: '/' }, LIMITS);
  const whole = typeof body === 'string' ? bytes(body) : body;
  for (let at = 0; at < whole.length; at += 50) await reading.push(whole.subarray(at, at + 50));
  const read = await reading.end();
  if (read.kind !== 'message') throw new Error('passed');
  return read.message;
}

const sha256 = (text: string): string => createHash('sha256').update(bytes(text)).digest('hex');

describe('EDI over HTTP', () => {
  it('an EDIFACT interchange is known by 0020, its parties with qualifiers, and its test indicator', async () => {
    const text = edifact('REF1', { test: '1' });
    expect(await message(edifactProtocol(), `\r\n${text}\r\n`)).toEqual({
      protocol: 'edifact', reference: 'REF1', signed: false, fingerprint: `plain:${sha256(text)}`,
      facts: { from: [{ value: 'SENDER', type: '14' }], to: [{ value: 'RECEIVER', type: 'ZZ' }], action: 'ORDERS', timestamp: Date.UTC(2024, 1, 29, 13, 5) },
      extra: { test: '1', datetime: '240229:1305' },
    });
  });

  it('an X12 interchange is known by ISA13, ISA05-08 and ISA15', async () => {
    const text = x12('42', { test: 'T' }).trimEnd();
    expect(await message(x12Protocol(), `${text}\n`)).toEqual({
      protocol: 'x12', reference: '000000042', signed: false, fingerprint: `plain:${sha256(text)}`,
      facts: { from: [{ value: 'SENDER', type: 'ZZ' }], to: [{ value: 'RECEIVER', type: '01' }], action: '850', timestamp: Date.UTC(2024, 1, 29, 13, 5) },
      extra: { test: 'T', datetime: '240229:1305' },
    });
  });

  it('a Standard Business Document is known by its own identifier and its sender', async () => {
    expect(await message(sbdhProtocol(), sbd())).toEqual({
      protocol: 'sbdh', reference: 'doc-1', signed: false, fingerprint: `plain:${sha256(sbd())}`,
      facts: {
        from: [{ value: '0088:1', type: 'iso6523-actorid-upis' }], to: [{ value: '0088:2', type: 'iso6523-actorid-upis' }], c1: '0088:1', c4: '0088:2',
        action: 'busdox-docid-qns::urn:x::Invoice##c::2.1', service: 'urn:process', timestamp: Date.UTC(2024, 1, 29, 13, 5),
      },
    });
    expect(await message(sbdhProtocol(), ownRoot({ id: 'cic-1' }))).toMatchObject({ reference: 'cic-1', facts: { from: [{ value: '0088:1', type: 'GS1' }] } });
    await expect(message(sbdhProtocol(), '<Invoice/>')).rejects.toMatchObject({ code: 'SBDH_BROKEN' });
  });

  it('a gzip coding makes no other message', async () => {
    expect(await message(edifactProtocol(), gzipSync(bytes(edifact('1'))), [['Content-Encoding', 'gzip']])).toEqual(await message(edifactProtocol(), edifact('1')));
  });

  it('a test interchange and another qualifier have other keys; date and time count only where asked for', async () => {
    const key = async (text: string, granularity: Parameters<typeof duplicateKey>[1] = 'reference+sender+recipient'): Promise<string> =>
      duplicateKey(await message(edifactProtocol(), text), granularity, 'default');
    const text = edifact('1');
    expect(await key(text.replace('SENDER:14', 'SENDER:9'))).not.toBe(await key(text));
    expect(await key(edifact('1', { test: '1' }))).not.toBe(await key(text));
    const later = text.replace('240229:1305', '240301:0900');
    expect(await key(later)).toBe(await key(text));
    expect(await key(later, 'reference+sender+datetime')).not.toBe(await key(text, 'reference+sender+datetime'));
    expect(await key(later, 'reference')).toBe(await key(text, 'reference'));
  });

  it('years of two digits are read as the nearest sensible century, and dates that do not exist as none', async () => {
    const timestamp = async (date: string): Promise<number | undefined> => (await message(edifactProtocol(), edifact('1').replace('240229', date))).facts.timestamp;
    expect(await timestamp('991111')).toBe(Date.UTC(1999, 10, 11, 13, 5));
    expect(await timestamp('20240229')).toBe(Date.UTC(2024, 1, 29, 13, 5));
    expect(await timestamp('230229')).toBeUndefined();
  });

  it('checks are asked for by message, so that a partner can be strict', async () => {
    const wrong = edifact('1', { unz: "UNZ+9+1'" });
    const protocol = edifactProtocol({ checks: ({ facts }) => (facts.from[0]?.value === 'SENDER' ? { interchange: 'strict' } : 'warn') });
    await expect(message(protocol, wrong)).rejects.toMatchObject({ code: 'EDI_BROKEN', reason: 'UNZ count 9, counted 1' });
    expect(await message(protocol, wrong.replace('SENDER', 'OTHER'))).toMatchObject({ reference: '1' });
  });

  it('a body that lacks only its last terminator is a message, unless checks are strict', async () => {
    const body = edifact('REF1').slice(0, -1);
    expect(await message(edifactProtocol(), body)).toMatchObject({ reference: 'REF1', fingerprint: `plain:${sha256(body)}` });
    await expect(message(edifactProtocol({ checks: () => 'strict' }), body)).rejects.toMatchObject({ code: 'EDI_BROKEN', reason: 'the terminator of UNZ is missing' });
    await expect(message(edifactProtocol(), body.slice(0, -1))).rejects.toMatchObject({ code: 'EDI_BROKEN' });
  });

  it('two interchanges in one request are refused: one response cannot acknowledge both', async () => {
    await expect(message(edifactProtocol(), edifact('1') + edifact('2'))).rejects.toMatchObject({ code: 'EDI_BROKEN', offset: edifact('1').length });
    await expect(message(edifactProtocol(), x12('1'))).rejects.toMatchObject({ code: 'EDI_BROKEN' });
    await expect(message(x12Protocol(), '')).rejects.toMatchObject({ code: 'EDI_BROKEN' });
  });
});
