import { statSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { edifact, x12 } from '../edi/samples.js';
import { acceptFile } from '../../src/watch/accept.js';
import { drop, type Drop } from './fixture.js';

let folders: Drop;
afterEach(() => folders.remove());

/** Folders that have seen message 2 already. */
async function seenTwo(options: Parameters<typeof drop>[0] = {}): Promise<Drop> {
  folders = drop(options);
  folders.put('in', 'before.edi', edifact('2'));
  await folders.pass();
  return folders;
}

const three = `\xef\xbb\xbf${edifact('1', { una: "UNA:+.? '\r\n" })}\r\n${edifact('2')}\r\n${edifact('3')}\r\n`;

describe('a file of several interchanges', () => {
  it('passes byte for byte where all are first copies, and goes aside where all are repetitions', async () => {
    folders = drop();
    const { put, pass, names, text, seen } = folders;
    put('in', 'a.edi', three);
    put('in', 'b.edi', `${edifact('3')}${edifact('1', { una: "UNA:+.? '\r\n" })}`);
    await pass();
    expect([names('out'), names('duplicates')]).toEqual([['a.edi'], ['b.edi']]);
    expect(text('out', 'a.edi')).toBe(three);
    expect(seen.exchange?.map(({ messageId, answer }) => [messageId, answer])).toEqual([['1', 'first'], ['2', 'first'], ['3', 'first'], ['3', 'replay'], ['1', 'replay']]);
  });

  it('loses its repetitions by default, the whole file and a report being kept', async () => {
    const { put, pass, names, text, json, path } = await seenTwo();
    put('in', 'a.edi', three);
    const { mtimeMs } = statSync(path('in', 'a.edi'));
    await pass();
    expect([names('out'), names('duplicates'), names('work')]).toEqual([['a.edi', 'before.edi'], ['a.edi', 'a.edi.report.json'], []]);
    expect(text('out', 'a.edi')).toBe(three.replace(`${edifact('2')}\r\n`, ''));
    expect(statSync(path('out', 'a.edi')).mtimeMs).toBe(mtimeMs);
    expect(text('duplicates', 'a.edi')).toBe(three);
    expect(json('duplicates', 'a.edi.report.json')).toMatchObject({ whole: 'a.edi', messages: [{ reference: '1', found: 'first' }, { reference: '2', found: 'duplicate' }, { reference: '3', found: 'first' }] });
    expect(folders.seen.exchange?.slice(1).map(({ messageId, answer }) => [messageId, answer])).toEqual([['2', 'replay'], ['1', 'first'], ['3', 'first']]);
  });

  it('is split into files of its messages where policy says so', async () => {
    const { put, pass, names, text } = await seenTwo({ rule: 'mixed: split' });
    put('in', 'a.edi', three);
    await pass();
    expect([names('out'), names('duplicates'), names('work')]).toEqual([['a.edi', 'a~2.edi', 'before.edi'], ['a.edi'], []]);
    expect([text('out', 'a.edi'), text('out', 'a~2.edi'), text('duplicates', 'a.edi')]).toEqual([`${edifact('1', { una: "UNA:+.? '\r\n" })}\r\n`, `${edifact('3')}\r\n`, `${edifact('2')}\r\n`]);
  });

  it('is held where policy says so, and an operator can let it pass', async () => {
    const { put, pass, names, json, config, path, text } = await seenTwo({ rule: 'mixed: hold' });
    put('in', 'a.edi', three);
    await pass();
    expect([names('out'), names('quarantine')]).toEqual([['before.edi'], ['a.edi', 'a.edi.reason.json']]);
    expect(json('quarantine', 'a.edi.reason.json')).toMatchObject({ code: 'HELD' });
    await acceptFile([config], path('quarantine', 'a.edi'), { who: 'me', when: 0, reason: 'checked' });
    await pass();
    expect(text('out', 'a.edi')).toBe(three.replace(`${edifact('2')}\r\n`, ''));
    expect(names('quarantine')).toEqual(['a.edi.accepted.json']);
  });

  it('holds the same interchange twice: the second is a repetition', async () => {
    folders = drop({ protocol: 'x12' });
    const { put, pass, names, text } = folders;
    put('in', 'a.x12', x12('1') + x12('2') + x12('1'));
    await pass();
    expect(text('out', 'a.x12')).toBe(x12('1') + x12('2'));
    expect(names('duplicates')).toEqual(['a.x12', 'a.x12.report.json']);
  });

  it('goes to quarantine whole where one number was reused, and nothing of it is recorded', async () => {
    const { put, pass, names, json } = await seenTwo();
    const reused = edifact('2', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" });
    put('in', 'a.edi', edifact('1') + reused);
    put('in', 'b.edi', edifact('3') + edifact('3', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" }));
    await pass();
    expect([names('out'), names('quarantine')]).toEqual([['before.edi'], ['a.edi', 'a.edi.reason.json', 'b.edi', 'b.edi.reason.json']]);
    expect(json('quarantine', 'b.edi.reason.json')).toMatchObject({ messages: [{ found: 'first' }, { code: 'MISMATCH', why: 'the same number twice in this file, with different content' }] });
    put('in', 'c.edi', edifact('1') + edifact('3'));
    await pass();
    expect(names('out')).toEqual(['before.edi', 'c.edi']);
  });
});

describe('accept', () => {
  it('requeues a file with a reused number once; a repetition of it is a repetition', async () => {
    const { put, pass, names, text, config, path, json } = await seenTwo();
    const reused = edifact('2', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" });
    put('in', 'a.edi', reused);
    await pass();
    await acceptFile([config], path('quarantine', 'a.edi'), { who: 'me', when: 0, reason: 'the partner reset its counter' });
    await pass();
    expect([names('out'), names('quarantine')]).toEqual([['a.edi', 'before.edi'], ['a.edi.accepted.json']]);
    expect(text('out', 'a.edi')).toBe(reused);
    expect(json('quarantine', 'a.edi.accepted.json')).toMatchObject({ who: 'me', reason: 'the partner reset its counter', quarantined: { messages: [{ code: 'MISMATCH' }] } });

    // the same file again is a mismatch for the first record still; accepted again it is known under its own key
    put('in', 'a.edi', reused);
    await pass();
    await acceptFile([config], path('quarantine', 'a.edi'), { who: 'me', when: 0, reason: 'again' });
    await pass();
    expect([names('out'), names('duplicates')]).toEqual([['a.edi', 'before.edi'], ['a.edi']]);
  });

  it('takes files out of a quarantine only', async () => {
    const { put, config, path } = await seenTwo();
    put('in', 'a.edi', edifact('1'));
    await expect(acceptFile([config], path('in', 'a.edi'), { who: 'me', when: 0, reason: 'x' })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(acceptFile([config], path('quarantine', 'none.edi'), { who: 'me', when: 0, reason: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
