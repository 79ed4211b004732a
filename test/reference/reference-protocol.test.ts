import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HeaderList } from '../../src/exchange.js';
import { LIMITS } from '../../src/limits.js';
import type { Message } from '../../src/message.js';
import type { Read } from '../../src/protocol.js';
import { referenceProtocol, type ReferenceRule } from '../../src/reference/reference-protocol.js';

async function read(rule: ReferenceRule, { headers = [], target = '/', body = '' }: { headers?: HeaderList; target?: string; body?: string | Buffer } = {}): Promise<Read> {
  const reading = referenceProtocol(rule).open({ headers, target }, LIMITS);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += 7) await reading.push(bytes.subarray(at, at + 7));
  return await reading.end();
}

async function message(rule: ReferenceRule, request: Parameters<typeof read>[1]): Promise<Message> {
  const found = await read(rule, request);
  if (found.kind !== 'message') throw new Error('no message');
  return found.message;
}

describe('protocol reference', () => {
  it('reads an AS2 message by Message-ID and AS2-From', async () => {
    const rule = { reference: { header: 'Message-ID' }, from: { header: 'AS2-From' }, to: { header: 'AS2-To' } };
    const headers = [['message-id', ' <1@a> '], ['AS2-From', 'A'], ['AS2-To', 'B']] as const;
    expect(await message(rule, { headers, body: 'x' })).toEqual({
      protocol: 'reference', reference: '<1@a>', facts: { from: [{ value: 'A' }], to: [{ value: 'B' }] }, signed: false,
      fingerprint: 'plain:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881',
    });
  });

  it('reads a CloudEvent by id, source and type', async () => {
    const rule = { reference: { pointer: '/id' }, from: { pointer: '/source' }, type: { pointer: '/type' } };
    const body = JSON.stringify({ specversion: '1.0', type: 'com.example.paid', source: '/shop', id: 'A-1', data: { id: 'other' } });
    expect(await message(rule, { body })).toMatchObject({ reference: 'A-1', type: 'com.example.paid', facts: { from: [{ value: '/shop' }] } });
  });

  it('reads an XML body by path, whatever its prefixes', async () => {
    const rule = { reference: { path: '/Order/Header/@id' }, type: { path: '/Order/Kind' }, from: { value: 'shop' } };
    const body = '<o:Order xmlns:o="urn:o"><o:Header xmlns:i="urn:i" i:id="7"/><Kind> sales\n</Kind><x><Kind>no</Kind></x></o:Order>';
    expect(await message(rule, { body })).toMatchObject({ reference: '7', type: 'sales', facts: { from: [{ value: 'shop' }] } });
  });

  it('reads the query, and undoes gzip', async () => {
    const rule = { reference: { query: 'ref' }, type: { pointer: '/t' } };
    const request = { target: '/in?a=b&ref=R%201', headers: [['Content-Encoding', 'gzip']] as const, body: gzipSync('{"t":"x"}') };
    const plain = await message(rule, { target: '/in?ref=R+1', body: '{"t":"x"}' });
    expect(await message(rule, request)).toEqual(plain);
    expect(plain.reference).toBe('R 1');
  });

  it('passes what has no reference, or refuses it', async () => {
    const rule: ReferenceRule = { reference: { pointer: '/id' }, type: { header: 'X-Type' } };
    for (const request of [{ body: '{"id":"1"}' }, { body: 'no json', headers: [['X-Type', 't']] as const }, { body: '{}', headers: [['X-Type', 't']] as const }]) {
      expect(await read(rule, request)).toEqual({ kind: 'pass' });
      await expect(read({ ...rule, noReference: 'refuse' }, request)).rejects.toMatchObject({ code: 'REFERENCE_MISSING' });
    }
  });

  it('refuses what could be read either way, wherever it stands', async () => {
    await expect(read({ reference: { header: 'X-Id' } }, { headers: [['X-Id', '1'], ['x-id', '2']] })).rejects.toMatchObject({ code: 'REFERENCE_MISSING' });
    await expect(read({ reference: { query: 'id' } }, { target: '/?id=1&id=2' })).rejects.toMatchObject({ code: 'REFERENCE_MISSING' });
    await expect(read({ reference: { pointer: '/id' } }, { body: '{"id":1,"id":2}' })).rejects.toMatchObject({ code: 'REFERENCE_MISSING' });
    await expect(read({ reference: { path: '/a/b' } }, { body: '<a><b>1</b><b>2</b></a>' })).rejects.toMatchObject({ code: 'REFERENCE_MISSING' });
    expect(await message({ reference: { header: 'X-Id' } }, { headers: [['X-Id', '1'], ['x-id', '1']] })).toMatchObject({ reference: '1' });
  });

  it('bounds references and parties', async () => {
    await expect(read({ reference: { header: 'X-Id' } }, { headers: [['X-Id', 'x'.repeat(256)]] })).rejects.toMatchObject({ code: 'REFERENCE_MISSING', detail: 'the reference is longer than 255 bytes' });
    await expect(read({ reference: { value: '1' }, from: { header: 'X-From' } }, { headers: [['X-From', 'ä'.repeat(128)]] })).rejects.toMatchObject({ detail: 'the from is longer than 255 bytes' });
  });

  it('cannot look for JSON and XML in one body', () => {
    expect(() => referenceProtocol({ reference: { pointer: '/id' }, type: { path: '/a' } })).toThrow(/JSON .* XML/);
  });
});
