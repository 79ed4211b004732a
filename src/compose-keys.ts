import type { Message } from './message.js';
import { duplicateKey, withContent, withSender } from './policy/key.js';
import { isPeppol } from './policy/peppol.js';
import type { Rule } from './policy/rule.js';
import type { Keys, SecondKey } from './walk.js';

/** The DuplicateKey of a message and whatever else it may be known by. */
export function keysOf(message: Message, rule: Rule, scope: string): Keys {
  return {
    key: duplicateKey(message, rule.key, scope),
    withContent: () => duplicateKey(message, withContent(rule.key), scope),
    withSender: () => duplicateKey(message, withSender(rule.key), scope),
    second: [...resendKey(message, rule, scope), ...documentKeys(message, rule, scope)],
    ...(rule.previousKey === undefined ? {} : { previous: duplicateKey(message, rule.previousKey, scope) }),
  };
}

/**
 * The same sender with the same signed `cid:` digests inside the window is the same business message, whatever its
 * MessageId: those digests are digests of the plaintext, SBDH included.
 */
function resendKey(message: Message, rule: Rule, scope: string): readonly SecondKey[] {
  const wanted = rule.resend === 'flag' || (rule.resend === 'auto' && isPeppol(message.facts));
  if (!wanted || !message.fingerprint.startsWith('signed:')) return [];
  const pointer = { ...message, reference: message.fingerprint, type: 'resend' };
  const key = duplicateKey(pointer, 'reference+sender', scope);
  return [{ kind: 'resend', key, fingerprint: message.fingerprint, reference: message.fingerprint, policy: 'flag' }];
}

/**
 * A document that was delivered under another MessageId: this is what catches senders that make a new one for every
 * attempt. The identifier counts together with who says it, access point, sender and receiver of the document alike.
 * Whether it is the same content is told by what was signed of it, as for the message itself.
 */
function documentKeys({ documents = [], ...message }: Message, rule: Rule, scope: string): readonly SecondKey[] {
  const { fingerprint } = message;
  return documents.map(({ kind, reference, parties }) => {
    const pointer = { ...message, reference, type: kind, facts: { ...message.facts, from: parties } };
    // a business key says what was sent, not that it is the same: an invoice may be sent again on purpose, so it only marks
    const policy = kind === 'business' || rule.sbdh === 'off' ? 'flag' : rule.sbdh;
    return { kind, key: duplicateKey(pointer, 'reference+sender', scope), fingerprint, reference, policy };
  });
}
