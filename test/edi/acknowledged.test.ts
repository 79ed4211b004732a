import { describe, expect, it } from 'vitest';
import { acknowledged, groupsOf, speaksOf } from '../../src/edi/acknowledged.js';
import type { Interchange, X12Interchange } from '../../src/edi/interchange.js';
import { messageOf } from '../../src/edi/message-of.js';
import { interchangesOf } from '../../src/edi/read-interchanges.js';
import { duplicateKey } from '../../src/policy/key.js';
import { bytes, edifact, x12 } from './samples.js';

const one = (text: string): Interchange => interchangesOf(bytes(text))[0] as Interchange;
const back = { sender: 'RECEIVER', receiver: 'SENDER' };
/** Qualifiers of the answer are those of the question, reversed. */
const answer = (text: string): Interchange => one(text.replace('*ZZ*RECEIVER', '*01*RECEIVER').replace('*01*SENDER', '*ZZ*SENDER'));
const ta1 = (inner: string): Interchange => answer(x12('9', { ...back, body: `TA1*${inner}~`, groups: '0' }));
const fa = (ak1: string): Interchange => answer(x12('9', { ...back, body: `GS*FA*R*S*20240301*0900*3*X*005010~ST*997*0001~AK1*${ak1}~AK9*A*1*1*1~SE*4*0001~GE*1*3~` }));
const uci = (inner: string): Interchange => one(edifact('9', { body: `UNH+1+CONTRL:D:3:UN'UCI+${inner}'UNT+3+1'` }));
const says = (carrier: Interchange, original: Interchange): boolean[] => carrier.acknowledges.map((ack) => speaksOf(ack, carrier, original));

describe('acknowledgements find what they acknowledge', () => {
  it('CONTRL by UCI: reference and both parties', () => {
    const original = one(edifact('REF1'));
    expect(says(uci('REF1+SENDER:14+RECEIVER:ZZ+7'), original)).toEqual([true]);
    expect(says(uci('REF1+SENDER+RECEIVER+7'), original)).toEqual([true]);
    for (const other of ['REF2+SENDER:14+RECEIVER:ZZ+7', 'REF1+SENDER:9+RECEIVER:ZZ+7', 'REF1+RECEIVER:ZZ+SENDER:14+7', 'REF1+SENDER:14+OTHER:ZZ+7']) {
      expect(says(uci(other), original), other).toEqual([false]);
    }
  });

  it('TA1 by number, date, time and the reversed parties', () => {
    const original = one(x12('42'));
    expect(says(ta1('000000042*240229*1305*A*000'), original)).toEqual([true]);
    for (const other of ['000000043*240229*1305*A*000', '000000042*240228*1305*A*000', '000000042*240229*1306*A*000']) {
      expect(says(ta1(other), original), other).toEqual([false]);
    }
    expect(says(one(x12('9', { body: 'TA1*000000042*240229*1305*A*000~', groups: '0' })), original)).toEqual([false]);
  });

  it('997 by functional group and the reversed parties, leading zeros aside', () => {
    const original = one(x12('42'));
    expect(says(fa('PO*7'), original)).toEqual([true]);
    expect(says(fa('PO*000000007'), original)).toEqual([true]);
    expect(says(fa('IN*7'), original)).toEqual([false]);
    expect(says(fa('PO*70'), original)).toEqual([false]);
    expect(says(fa('PO*7'), one(x12('42', { sender: 'OTHER' })))).toEqual([false]);
    expect(says(fa('PO*7'), one(edifact('7')))).toEqual([false]);
  });

  it('one answer may speak of several interchanges, each in its own segment', () => {
    const carrier = one(edifact('9', { body: "UNH+1+CONTRL:D:3:UN'UCI+A+SENDER+RECEIVER+7'UNT+3+1'UNH+2+CONTRL:D:3:UN'UCI+B+SENDER+RECEIVER+4'UNT+3+2'", unz: "UNZ+2+9'" }));
    expect(says(carrier, one(edifact('A')))).toEqual([true, false]);
    expect(says(carrier, one(edifact('B')))).toEqual([false, true]);
    expect(carrier.acknowledges.map(({ verdict }) => verdict)).toEqual(['positive', 'negative']);
  });

  it('what is acknowledged has the key under which the original was claimed', () => {
    const key = (message: Parameters<typeof duplicateKey>[0]): string => duplicateKey(message, 'reference+sender+recipient', 'default');
    const told = (carrier: Interchange) => acknowledged(carrier.acknowledges[0] as never, carrier);
    const keys = ({ message, tests }: ReturnType<typeof told>): string[] => tests.map((test) => key({ ...message, extra: { ...message.extra, test } }));
    expect(keys(told(uci('REF1+SENDER:14+RECEIVER:ZZ+7')))[0]).toBe(key(messageOf(one(edifact('REF1')))));
    expect(keys(told(uci('REF1+SENDER:14+RECEIVER:ZZ+7')))).toContain(key(messageOf(one(edifact('REF1', { test: '1' })))));
    expect(keys(told(ta1('000000042*240229*1305*A*000')))[0]).toBe(key(messageOf(one(x12('42')))));
    expect(keys(told(fa('PO*7')))[0]).toBe(key(groupsOf(one(x12('42')) as X12Interchange)[0] as never));
  });
});
