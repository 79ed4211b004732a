import { createHash, randomUUID } from 'node:crypto';
import { send, type Answer, type SendOptions } from '../support/send.js';
import { as4Message, identity, type MessageChoices, type TestMessage } from '../support/messages.js';

/** A message that nobody has sent yet; all ids have one length. */
export const freshId = (): string => `${randomUUID()}@front.test`;

/** Signed, as real partners send; with the same id it is the honest retry of the same message, other bytes and all. */
export function signedMessage(messageId: string, choices: MessageChoices = {}): TestMessage {
  return as4Message({ messageId, signer: identity('POP000001'), payloads: [`<Invoice>${messageId}</Invoice>`], ...choices });
}

const templates = new Map<string, TestMessage>();
const TEMPLATE_ID = freshId();

/**
 * The same at a hundredth of the cost: signed once, then given its own id and its own payload digest. The front before
 * somebody else's access point checks no signature; it reads what was signed.
 */
export function message(messageId: string, choices: MessageChoices = {}): TestMessage {
  if (messageId.length !== TEMPLATE_ID.length) return signedMessage(messageId, choices);
  const name = JSON.stringify(choices);
  const template = templates.get(name) ?? signedMessage(TEMPLATE_ID, choices);
  templates.set(name, template);
  const digest = createHash('sha256').update(messageId).digest('base64');
  const text = template.body.toString('latin1')
    .replaceAll(TEMPLATE_ID, messageId)
    .replace(/(URI="cid:[\s\S]*?<ds:DigestValue>)[^<]*/g, `$1${digest}`);
  return { ...template, body: Buffer.from(text, 'latin1') };
}

export const post = (url: string, built: Pick<TestMessage, 'body' | 'headers'>, options?: SendOptions): Promise<Answer> => send(url, built, options);

/** Something that a test opens when it wants to. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** The RefToMessageId of a signal. */
export const refersTo = (body: Buffer): string | undefined => /RefToMessageId>([^<]*)</.exec(body.toString())?.[1];

/** Codes of the ebMS Errors in an answer. */
export const errorCodes = (body: Buffer): string[] => [...body.toString().matchAll(/errorCode="([^"]*)"/g)].map(([, code = '']) => code);
