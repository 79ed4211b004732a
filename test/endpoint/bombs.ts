import { REFERENCE } from '../security/tamper.js';
import { as4Message, type MessageChoices, type TestMessage } from '../support/messages.js';
import { receiver, sender } from './identities.js';

/**
 * Messages that are small or cheap to make and want a receiver to do a great deal: each has to be refused at a bounded
 * cost. For an endpoint with `maxPayload: 4MB` and `limits.parts: 200` that takes what `sender` signs, encrypted or not.
 */
export interface Bomb {
  readonly name: string;
  /** HTTP status and ebMS code of the refusal. */
  readonly told: readonly [status: number, code: string];
  build(messageId: string): { readonly body: Buffer; readonly contentType: string };
}

const MIME = [400, 'EBMS:0007'] as const;
const HEADER = [400, 'EBMS:0009'] as const;
const POLICY = [200, 'EBMS:0103'] as const;
const DECOMPRESSION = [200, 'EBMS:0303'] as const;

/** Signed, compressed, in clear. */
export const plain = (messageId: string, choices: MessageChoices = {}): TestMessage =>
  as4Message({ messageId, signer: sender, compress: true, payloads: ['<a/>'], ...choices });
const tampered = (tamper: (envelope: string) => string) => (messageId: string): TestMessage => plain(messageId, { plan: { tamper } });
const inMessageId = (what: string) => tampered((e) => e.replace(/<eb:MessageId>/, `<eb:MessageId>${what}`));
const laughs = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "&l${i};&l${i};">`).join('');
const zeros = Buffer.alloc(100_000_000);

export const BOMBS: readonly Bomb[] = [
  { name: 'gzip bomb, 100 MB', told: DECOMPRESSION, build: (messageId) => plain(messageId, { payloads: [zeros] }) },
  { name: 'gzip bomb, 100 MB, encrypted', told: DECOMPRESSION, build: (messageId) => plain(messageId, { payloads: [zeros], receiver: receiver.certificate }) },
  { name: 'MIME bomb: 10,000 parts', told: MIME, build: (messageId) => plain(messageId, { plan: { tamperParts: (all) => Array.from({ length: 10_000 }, (_, i) => ({ ...all[0]!, contentId: `p${i}@x` })) } }) },
  { name: 'MIME bomb: one part 10,000 times', told: MIME, build: (messageId) => plain(messageId, { plan: { tamperParts: (all) => Array.from({ length: 10_000 }, () => all[0]!) } }) },
  { name: 'MIME bomb: 1,500 parts, listed and signed', told: MIME, build: (messageId) => plain(messageId, { payloads: Array.from({ length: 1_500 }, () => '<a/>') }) },
  {
    name: 'MIME bomb: a part whose head does not end', told: MIME,
    build: (messageId) => {
      const { body, contentType } = plain(messageId);
      const at = body.lastIndexOf('Content-ID');
      return { contentType, body: Buffer.concat([body.subarray(0, at), Buffer.from('X-Long: a\r\n'.repeat(1_000_000)), body.subarray(at)]) };
    },
  },
  { name: '10,000 references', told: POLICY, build: tampered((e) => e.replace(REFERENCE, (r) => r + '<ds:Reference URI="#a"/>'.repeat(10_000))) },
  { name: '10,000 whole references', told: MIME, build: tampered((e) => e.replace(REFERENCE, (r) => r.repeat(10_000))) },
  { name: '100,000 elements one in another', told: HEADER, build: inMessageId('<a>'.repeat(100_000)) },
  { name: '200,000 attributes', told: MIME, build: inMessageId(`<a ${Array.from({ length: 200_000 }, (_, i) => `a${i}=""`).join(' ')}/>`) },
  { name: '10,000 namespaces, in force for 10,000 elements', told: HEADER, build: inMessageId(`<a ${Array.from({ length: 10_000 }, (_, i) => `xmlns:n${i}="urn:${i}"`).join(' ')}>${'<b/>'.repeat(10_000)}</a>`) },
  { name: 'a billion laughs', told: HEADER, build: tampered((e) => `<!DOCTYPE a [<!ENTITY l0 "ha">${laughs}]>${e.replace(/^<\?xml[^>]*>/, '').replace(/<eb:MessageId>/, '<eb:MessageId>&l30;')}`) },
  { name: 'a header of 20 MB', told: MIME, build: inMessageId('a'.repeat(20_000_000)) },
];
