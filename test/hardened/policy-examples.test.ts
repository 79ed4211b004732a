import { afterEach, describe, expect, it } from 'vitest';
import { PEPPOL } from '../../conformance/as4/names.js';
import { duplicateKey } from '../../src/policy/key.js';
import { rootShelf } from '../../src/ledger/shelves.js';
import { sampleImport } from '../../src/testing/sample.js';
import { freshId, gate, signedMessage } from '../front/messages.js';
import { as4Message, identity, type MessageChoices } from '../support/messages.js';
import { after, ebmsError, plain, reset } from '../support/scripted-answers.js';
import type { Step } from '../support/scripted-upstream.js';
import { closeExamples, examplesOf, isAs4Front, keys, runExample } from './example-front.js';

/**
 * Every file of examples/policy is put to work and does what its first lines say. Loading them was all that a test did:
 * an example could say one thing and its value mean another.
 */
const P = { from: 'POP000123' };
const OTHER = { payloads: ['<Invoice>other content</Invoice>'] };
const SAME = { payloads: ['<Invoice>the same document</Invoice>'] };
const PLAIN = { agreement: 'urn:ours', action: 'Submit', service: 'urn:services:ours' };
const bundled = (from = 'POP000001'): MessageChoices => ({
  from,
  plan: {
    tamper: (xml) =>
      xml.replace(
        /<\/((?:\w+:)?)UserMessage>/,
        (end, p: string) =>
          `${end}<${p}SignalMessage><${p}MessageInfo><${p}Timestamp>2026-11-30T12:00:00Z</${p}Timestamp>` +
          `<${p}MessageId>signal@test</${p}MessageId><${p}RefToMessageId>earlier@test</${p}RefToMessageId>` +
          `</${p}MessageInfo><${p}Receipt/></${p}SignalMessage>`,
      ),
  },
});
const broken = plain(500, 'text/html', 'broken');
const duplicate = ebmsError({ code: 'EBMS:4001' });

/** A message and the word it must come to; `id` names it within the example, `days` pass before, `up` answers it. */
type Sent = readonly [
  word: string,
  choices?: MessageChoices,
  more?: { id?: string; days?: number; up?: Step; unsigned?: true },
];

/** A partner's own window: remembered where everybody else's message is late. */
const longer = (choices: MessageChoices): readonly Sent[] => [
  ['first', choices, { id: 'matched' }],
  ['first', { from: 'SOMEBODY', to: 'SOMEWHERE', c1: '9915:x', c4: '9915:y', ...PLAIN }, { id: 'other' }],
  ['replay', choices, { id: 'matched', days: 31 }],
  ['late', { from: 'SOMEBODY', to: 'SOMEWHERE', c1: '9915:x', c4: '9915:y', ...PLAIN }, { id: 'other' }],
];
const NOT_PEPPOL_SENDER = { ...P, ...PLAIN };

const AS4: Readonly<Record<string, readonly Sent[]>> = {
  'bundle-forward': [
    ['first', bundled('POP000123')],
    ['replay', bundled('POP000123')],
    ['EBMS:0008', bundled(), { id: 'b' }],
  ],
  'bundle-refuse': [['EBMS:0008', bundled()], ['first']],
  'key-reference': [
    ['first', { from: 'A' }],
    ['EBMS:0003', { from: 'B' }],
    ['replay', { from: 'A', to: 'X' }],
  ],
  'key-reference-sender': [
    ['first', { from: 'A' }],
    ['first', { from: 'B' }],
    ['replay', { from: 'A', to: 'X' }],
  ],
  'key-reference-content': [
    ['first', P],
    ['first', { ...P, ...OTHER }],
    ['replay', P],
    ['replay', { ...P, ...OTHER }],
  ],
  'key-reference-sender-content': [
    ['first', P],
    ['first', { ...P, ...OTHER }],
    ['replay', P],
    ['first', { from: 'B' }],
    ['EBMS:0003', { from: 'B', ...OTHER }],
  ],
  late: [['first'], ['late', {}, { days: 31 }], ['replay', {}, { days: 29 }]],
  'match-action': longer({ ...NOT_PEPPOL_SENDER, action: 'http://example.org/orders/submit' }),
  'match-agreement': longer({ agreement: PEPPOL.agreement }),
  'match-c1': longer({ ...NOT_PEPPOL_SENDER, c1: '0088:7300010000001' }),
  'match-c4': longer({ ...NOT_PEPPOL_SENDER, c4: '0192:987654321' }),
  'match-document-type': longer({ ...NOT_PEPPOL_SENDER, action: `busdox-docid-qns::${PEPPOL.documentType}` }),
  'match-from': longer(NOT_PEPPOL_SENDER),
  'match-mpc': longer({
    ...NOT_PEPPOL_SENDER,
    plan: { tamper: (xml) => xml.replace(/UserMessage>/, 'UserMessage mpc="http://example.org/mpc/urgent">') },
  }),
  'match-service': longer({ ...NOT_PEPPOL_SENDER, service: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0' }),
  'match-to': longer({ ...NOT_PEPPOL_SENDER, to: 'POP000456' }),
  'match-most-criteria': [
    ['first', { c4: '0088:7300010000002' }, { id: 'receiver' }],
    ['first', P, { id: 'partner' }],
    ['first', { ...P, c4: '0088:7300010000002' }, { id: 'both' }],
    ['late', { c4: '0088:7300010000002' }, { id: 'receiver', days: 31 }],
    ['replay', P, { id: 'partner' }],
    ['late', P, { id: 'partner', days: 150 }],
    ['replay', { ...P, c4: '0088:7300010000002' }, { id: 'both' }],
    ['late', { ...P, c4: '0088:7300010000002' }, { id: 'both', days: 185 }],
  ],
  'mismatch-deliver-flagged': [
    ['first', P],
    ['first', { ...P, ...OTHER }],
    ['replay', P],
    ['replay', { ...P, ...OTHER }],
  ],
  'mismatch-refuse': [['first'], ['EBMS:0003', OTHER], ['replay']],
  'mismatch-replay': [
    ['first', P],
    ['replay', { ...P, ...OTHER }],
    ['first', {}],
    ['EBMS:0003', OTHER],
  ],
  'mode-detect-only': [['first'], ['duplicate'], ['duplicate', OTHER]],
  'mode-eliminate': [['first'], ['replay']],
  'mode-shadow': [['unmarked'], ['unmarked'], ['unmarked', OTHER]],
  'other-sender-deliver': [
    ['first', { from: 'A' }],
    ['first', { from: 'B' }],
    ['replay', { from: 'B' }],
    ['replay', { from: 'A' }],
  ],
  'other-sender-refuse': [
    ['first', { from: 'A' }],
    ['EBMS:0003', { from: 'B' }],
    ['replay', { from: 'A' }],
  ],
  'reply-pattern-callback': [
    ['first', { from: 'PARTNER-ASYNC' }, { up: plain(202, undefined, '') }],
    ['redelivery', { from: 'PARTNER-ASYNC' }, { up: plain(202, undefined, '') }],
    ['first 502 UPSTREAM_UNCLEAR', {}, { up: plain(202, undefined, ''), id: 'b' }],
  ],
  'reply-pattern-response': [
    ['first 502 UPSTREAM_UNCLEAR', {}, { up: plain(202, undefined, '') }],
    ['redelivery'],
    ['replay'],
  ],
  'resend-auto': [
    ['first', SAME, { id: 'a' }],
    ['resend', SAME, { id: 'b' }],
    ['first', { ...PLAIN, ...OTHER }, { id: 'c' }],
    ['first', { ...PLAIN, ...OTHER }, { id: 'd' }],
  ],
  'resend-flag': [
    ['first', { ...PLAIN, ...SAME }, { id: 'a' }],
    ['resend', { ...PLAIN, ...SAME }, { id: 'b' }],
  ],
  'resend-off': [
    ['first', SAME, { id: 'a' }],
    ['first', SAME, { id: 'b' }],
  ],
  'uncertain-auto': [
    ['first 502 UPSTREAM_UNCLEAR', {}, { up: broken }],
    ['redelivery'],
    ['first 502 UPSTREAM_UNCLEAR', {}, { up: broken, id: 'b' }],
    ['503 HELD', {}, { id: 'b', days: 1 }],
  ],
  'uncertain-hold': [
    ['first 502 UPSTREAM_UNCLEAR', P, { up: broken }],
    ['503 HELD', P],
    ['first 502 UPSTREAM_UNCLEAR', {}, { up: broken, id: 'b' }],
    ['redelivery', {}, { id: 'b' }],
  ],
  'uncertain-redeliver': [
    ['first 502 UPSTREAM_UNCLEAR', {}, { up: reset('body') }],
    ['redelivery', {}, { days: 1 }],
  ],
  'unsigned-accept': [
    ['first', {}, { unsigned: true }],
    ['replay', {}, { unsigned: true }],
  ],
  'unsigned-refuse': [['EBMS:0103', {}, { unsigned: true }], ['first']],
  'upstream-duplicate-hold': [['first 503 HELD', {}, { up: duplicate }], ['503 HELD']],
  'upstream-duplicate-pass': [['first EBMS:4001', {}, { up: duplicate }], ['first']],
  'verify-none': [['first', { signer: identity('FORGER') }]],
  'verify-signature': [['EBMS:0101', { signer: identity('FORGER') }], ['first'], ['replay']],
  window: [
    ['first'],
    ['first', P, { id: 'p' }],
    ['replay', {}, { days: 89 }],
    ['late', {}, { days: 2 }],
    ['replay', P, { id: 'p', days: 270 }],
    ['late', P, { id: 'p', days: 5 }],
  ],
  'window-iso': [['first'], ['replay', {}, { days: 89 }], ['late', {}, { days: 2 }]],
  'window-pmode': [['first'], ['replay', {}, { days: 6 }], ['late', {}, { days: 2 }]],
};

afterEach(closeExamples);

describe('AS4', () => {
  it.each(Object.keys(AS4))('%s', async (name) => {
    const example = await runExample(name, { prepare: keys });
    const sentAt = new Date().toISOString();
    const ids = new Map<string, string>();
    for (const [n, [word, choices = {}, { id = 'a', days = 0, up, unsigned } = {}]] of AS4[name]!.entries()) {
      const messageId = ids.get(id) ?? freshId();
      ids.set(id, messageId);
      example.pass(days);
      if (up !== undefined) example.upstream.next(up);
      const made = { messageId, timestamp: sentAt, payloads: [`<Invoice>${messageId}</Invoice>`], ...choices };
      const built = unsigned === true ? as4Message(made) : signedMessage(messageId, made);
      expect([n, await example.says(built)]).toEqual([n, word]);
    }
  });
});

describe('AS4, what a table cannot say', () => {
  it('previous-key: what was accepted by the MessageId alone is replayed, and senders are told apart from now on', async () => {
    const before = await runExample('previous-key', {
      edit: (text) => text.replace('key: reference+sender', 'key: reference').replace(/.*previousKey.*/, ''),
    });
    const messageId = freshId();
    expect(await before.says(signedMessage(messageId, { from: 'A' }))).toBe('first');
    const later = await runExample('previous-key', { ledger: before.ledger });
    expect(await later.says(signedMessage(messageId, { from: 'A' }))).toBe('replay');
    expect(await later.says(signedMessage(messageId, { from: 'B' }))).toBe('first');
  });

  it.each([
    ['known-pass', 'duplicate'],
    ['known-hold', '503 HELD'],
  ])('%s', async (name, word) => {
    const example = await runExample(name);
    const messageId = freshId();
    const from = [{ value: 'POP000001', type: PEPPOL.partyType }];
    const facts = { from, to: [] };
    const message = { protocol: 'as4', reference: messageId, facts, signed: true } as const;
    const record = sampleImport(duplicateKey(message, 'reference+sender', 'default'), Date.now() - 60_000);
    expect(await example.ledger.adopt({ ...record, reference: messageId, scope: 'default', sender: '', facts })).toBe(
      true,
    );
    expect(await example.says(signedMessage(messageId))).toBe(word);
  });

  it('keep-header: the SOAP part lies beside the record', async () => {
    const example = await runExample('keep-header');
    const messageId = freshId();
    expect(await example.says(signedMessage(messageId))).toBe('first');
    for await (const { record } of example.ledger.iterate())
      if (record.reference === messageId)
        expect([...(await example.ledger.notes(rootShelf(record.key)))]).toHaveLength(2);
  });

  it('wait: the partner is asked to come again after ten seconds, everybody else after a minute', async () => {
    const example = await runExample('wait', { fast: 50 });
    const working = gate();
    example.upstream.always(after(working.opened, plain(500, 'text/html', '')));
    const order: string[] = [];
    const firsts: Promise<unknown>[] = [];
    const copies: Promise<unknown>[] = [];
    for (const from of ['SOMEBODY', 'POP000123']) {
      const messageId = freshId();
      firsts.push(example.post(signedMessage(messageId, { from })));
      await example.upstream.arrived(firsts.length);
      copies.push(
        example.post(signedMessage(messageId, { from })).then(({ body }) => order.push(`${from} ${body.toString()}`)),
      );
    }
    await Promise.all(copies);
    working.open();
    await Promise.all(firsts);
    expect(order.map((text) => text.split(':')[0])).toEqual(['POP000123 IN_PROGRESS', 'SOMEBODY IN_PROGRESS']);
  });
});

it('no AS4 example of the front is left out', () => {
  const said = ['previous-key', 'known-pass', 'known-hold', 'keep-header', 'wait'];
  const shown = [...Object.keys(AS4), ...said].map((name) => `${name}.yaml`);
  expect(shown.toSorted()).toEqual(examplesOf(isAs4Front));
});
