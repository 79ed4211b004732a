import { describe, expect, it } from 'vitest';
import { readXml } from '../../conformance/as4/xml.js';
import { as4Message, identity } from './messages.js';

describe('the messages of the tests', () => {
  it('come in both SOAP versions, bare and packed, signed and not', () => {
    for (const soap of ['1.1', '1.2'] as const) {
      for (const bare of [true, false]) {
        for (const signer of [undefined, identity()]) {
          const message = as4Message({ soap, bare, ...(signer === undefined ? {} : { signer }) });
          expect(readXml(message.envelope).local).toBe('Envelope');
          expect(message.envelope.includes('SignatureValue')).toBe(signer !== undefined);
          expect(message.headers['content-type']?.startsWith('multipart/related')).toBe(!bare);
          expect(message.soap).toBe(soap);
        }
      }
    }
  });

  it('are an honest retry when made twice: same id, same attachment digest, other bytes', () => {
    const choices = { messageId: 'same@test', signer: identity() };
    const [first, second] = [as4Message(choices), as4Message(choices)];
    const attached = (m: typeof first): string[] => m.references.filter((r) => r.uri.startsWith('cid:')).map((r) => r.digest);
    expect(attached(first)).toEqual(attached(second));
    expect(first.body.equals(second.body)).toBe(false);
  });
});
