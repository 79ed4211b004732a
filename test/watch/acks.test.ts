import { afterEach, describe, expect, it } from 'vitest';
import { edifact, sbd, x12 } from '../edi/samples.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { drop, type Drop } from './fixture.js';

let folders: Drop;
afterEach(() => folders.remove());

const contrl = (ref: string, action = '7', parties = 'SENDER:14+RECEIVER:ZZ'): string =>
  `${edifact(`A${ref}`, { body: `UNH+1+CONTRL:D:3:UN'UCI+${ref}+${parties}+${action}'UNT+3+1'` })}\r\n`;

/** An answer goes back: parties and qualifiers reversed. */
const back = (text: string): string => text.replace('*ZZ*SENDER         *01*RECEIVER       ', '*01*RECEIVER       *ZZ*SENDER         ');
const ta1 = (number: string, code = 'A'): string => back(x12('900', { body: `TA1*${number.padStart(9, '0')}*240229*1305*${code}*000~`, groups: '0' }));
const fa = (group: string, code = 'A'): string => back(x12('901', { body: `GS*FA*R*S*20240301*0900*3*X*005010~ST*997*0001~AK1*PO*${group}~AK9*${code}*1*1*1~SE*4*0001~GE*1*3~` }));

async function delivered(options: Parameters<typeof drop>[0], text: string, name = 'a.edi'): Promise<Drop> {
  folders = drop(options);
  folders.put('in', name, text);
  await folders.pass();
  expect(folders.names('out')).toEqual([name]);
  return folders;
}

async function again(text: string, name = 'again.edi'): Promise<void> {
  folders.put('in', name, text);
  await folders.pass();
}

describe('acknowledgements', () => {
  it('go on to the transfer tool, and once more with each repetition', async () => {
    const { put, pass, names, text } = await delivered({}, edifact('1'));
    put('acks', 'a.contrl', contrl('1'));
    await pass();
    expect([names('acks'), names('ackOut'), names('work')]).toEqual([[], ['a.contrl'], []]);
    expect(text('ackOut', 'a.contrl')).toBe(contrl('1'));
    await again(edifact('1'));
    expect([names('duplicates'), names('ackOut')]).toEqual([['again.edi'], ['a.contrl', 'a~2.contrl']]);
    expect(text('ackOut', 'a~2.contrl')).toBe(contrl('1'));
  });

  it('of several kinds for one interchange are all kept: TA1 by number, 997 by group', async () => {
    const { put, pass, names } = await delivered({ protocol: 'x12' }, x12('42'), 'a.x12');
    put('acks', 'a.ta1', ta1('42'));
    put('acks', 'a.997', fa('7'));
    await pass();
    await again(x12('42'), 'b.x12');
    expect(names('ackOut')).toEqual(['a.997', 'a.ta1', 'a~2.997', 'a~2.ta1']);
  });

  it('by group number speak of the newest interchange that used it', async () => {
    const { put, pass, names } = await delivered({ protocol: 'x12' }, x12('1'), 'a.x12');
    put('in', 'b.x12', x12('2'));
    await pass();
    put('acks', 'x.997', fa('7'));
    await pass();
    await again(x12('1'), 'again1.x12');
    expect(names('ackOut')).toEqual(['x.997']);
    await again(x12('2'), 'again2.x12');
    expect(names('ackOut')).toEqual(['x.997', 'x~2.997']);
  });

  it('that carry nothing we know are matched by their file name', async () => {
    const { put, pass, names, seen } = await delivered({ protocol: 'sbdh' }, sbd(), 'inv1.xml');
    put('acks', 'inv1.xml.ack', 'ok');
    put('acks', 'other.ack', 'ok');
    await pass();
    expect(names('ackOut')).toEqual(['inv1.xml.ack', 'other.ack']);
    expect(seen.fault).toMatchObject([{ code: 'NOT_FOUND', detail: expect.stringContaining('other.ack') }]);
    await again(sbd(), 'copy.xml');
    expect(names('ackOut')).toEqual(['inv1.xml.ack', 'inv1.xml~2.ack', 'other.ack']);
  });

  it.each<[string, Parameters<typeof drop>[0], string, string, string]>([
    ['CONTRL 4', {}, edifact('1'), contrl('1', '4'), edifact('1', { body: "UNH+1+ORDERS:D:01B:UN'UNT+2+1'" })],
    ['TA1 R', { protocol: 'x12' }, x12('42'), ta1('42', 'R'), x12('42', { body: 'GS*PO*S*R*20240229*1305*8*X*005010~GE*0*8~' })],
    ['AK9 R', { protocol: 'x12' }, x12('42'), fa('7', 'R'), x12('42', { body: 'GS*PO*S*R*20240229*1305*8*X*005010~GE*0*8~' })],
  ])('that are negative (%s) release the number: a corrected file is a first copy', async (_what, options, text, ack, corrected) => {
    const { put, pass, names } = await delivered(options, text);
    put('acks', 'no.ack', ack);
    await pass();
    expect(names('ackOut')).toEqual(['no.ack']);
    await again(corrected, 'corrected.edi');
    expect([names('out'), names('quarantine')]).toEqual([['a.edi', 'corrected.edi'], []]);
    await again(corrected, 'twice.edi');
    expect(names('duplicates')).toEqual(['twice.edi']);
  });

  it('that are negative count once: the same file again does not take the corrected message back', async () => {
    const { put, pass, names } = await delivered({}, edifact('1'));
    put('acks', 'no.contrl', contrl('1', '4'));
    await pass();
    const corrected = edifact('1', { body: "UNH+1+ORDERS:D:01B:UN'UNT+2+1'" });
    await again(corrected, 'corrected.edi');
    put('acks', 'no.contrl', contrl('1', '4'));
    await pass();
    await again(corrected, 'twice.edi');
    expect([names('out'), names('duplicates')]).toEqual([['a.edi', 'corrected.edi'], ['twice.edi']]);
  });

  it('that accept a part only release nothing', async () => {
    const { put, pass, names } = await delivered({ protocol: 'x12' }, x12('42'), 'a.x12');
    put('acks', 'part.997', fa('7', 'P'));
    await pass();
    await again(x12('42'), 'again.x12');
    expect([names('out'), names('duplicates'), names('ackOut')]).toEqual([['a.x12'], ['again.x12'], ['part.997', 'part~2.997']]);
  });

  it('are put out again three times a day at most', async () => {
    const clock = simulatedClock();
    const { put, pass, names } = await delivered({ clock }, edifact('1'));
    put('acks', 'a.contrl', contrl('1'));
    await pass();
    for (let n = 0; n < 5; n += 1) await again(edifact('1'), `again${n}.edi`);
    expect(names('ackOut')).toHaveLength(4);
    await clock.advance(86_400_001);
    await again(edifact('1'), 'tomorrow.edi');
    expect(names('ackOut')).toHaveLength(5);
    expect(names('duplicates')).toHaveLength(6);
  });

  it('are not put out again where policy says none, nor for what is an acknowledgement itself', async () => {
    const one = await delivered({ rule: 'ack: none' }, edifact('1'));
    one.put('acks', 'a.contrl', contrl('1'));
    await one.pass();
    await again(edifact('1'));
    expect(one.names('ackOut')).toEqual(['a.contrl']);
    one.remove();
    const two = await delivered({}, contrl('77'));
    two.put('acks', 'a.ack', 'named like it');
    await two.pass();
    await again(contrl('77'));
    expect([two.names('duplicates'), two.names('ackOut')]).toEqual([['again.edi'], ['a.ack']]);
  });

  it('in one file for several messages go to each of them', async () => {
    const { put, pass, names } = await delivered({}, edifact('1') + edifact('2'));
    put('acks', 'both.contrl', contrl('1') + contrl('2', '4'));
    await pass();
    await again(edifact('1'), 'one.edi');
    await again(edifact('2'), 'two.edi');
    expect([names('out'), names('duplicates')]).toEqual([['a.edi', 'two.edi'], ['one.edi']]);
    expect(folders.text('ackOut', 'both~2.contrl')).toBe(contrl('1').trimEnd());
  });
});
