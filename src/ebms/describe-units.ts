import { copiedUserMessage } from './signal-message.js';
import { child } from '../xml/tree.js';
import type { XmlNode } from '../xml/tree.js';
import { present, trim } from './elements.js';
import { NS } from './namespaces.js';
import type { Envelope, Property, SignalMessage, UserMessage } from './units.js';

/**
 * Message units as `as4-once read --json` prints them. Members that a message does not have are left out; ids are shown
 * without white space around them, and a warning says where the walk compares it.
 */
export type DescribedMessage = DescribedUserMessage | DescribedSignal;

type NamedValue = readonly [name: string, value: string];

export interface DescribedUserMessage {
  readonly type: 'UserMessage';
  readonly messageId: string;
  readonly timestamp?: string;
  readonly refToMessageId?: string;
  readonly mpc?: string;
  readonly from?: UserMessage['from'];
  readonly to?: UserMessage['to'];
  readonly agreementRef?: NonNullable<UserMessage['agreement']>;
  readonly service?: UserMessage['service'];
  readonly action?: string;
  readonly conversationId?: string;
  readonly messageProperties?: readonly NamedValue[];
  readonly payloads?: readonly { readonly href?: string; readonly properties?: readonly NamedValue[] }[];
}

export interface DescribedSignal {
  readonly type: 'SignalMessage';
  readonly messageId: string;
  readonly timestamp?: string;
  readonly refToMessageId?: string;
  readonly kinds: SignalMessage['kinds'];
  readonly mpc?: string;
  readonly receipt?: {
    readonly nonRepudiation: boolean;
    readonly copyOfUserMessage: boolean;
    readonly copiedMessageId?: string;
    readonly references?: readonly { readonly uri: string; readonly digest: string }[];
  };
  readonly errors?: readonly {
    readonly code: string;
    readonly severity: string;
    readonly refToMessageInError?: string;
    readonly shortDescription?: string;
  }[];
}

/** All units of an envelope, in document order. */
export function describeMessages(envelope: Envelope): DescribedMessage[] {
  const user = envelope.userMessage;
  const described = new Map<XmlNode, DescribedMessage>(envelope.signals.map((s) => [s.element, describeSignal(s)]));
  if (user !== undefined) described.set(user.element, describeUser(user));
  return (envelope.messaging?.children ?? []).flatMap((node) => described.get(node) ?? []);
}

function describeUser(user: UserMessage): DescribedUserMessage {
  const has = (holder: string, name: string): boolean => {
    const element = child(user.element, NS.eb, holder);
    return element !== undefined && child(element, NS.eb, name) !== undefined;
  };
  return present<DescribedUserMessage>({
    type: 'UserMessage',
    messageId: trim(user.messageId),
    timestamp: has('MessageInfo', 'Timestamp') ? user.timestamp : undefined,
    refToMessageId: user.refToMessageId && trim(user.refToMessageId),
    mpc: user.mpc,
    from: has('PartyInfo', 'From') ? user.from : undefined,
    to: has('PartyInfo', 'To') ? user.to : undefined,
    agreementRef: user.agreement,
    service: has('CollaborationInfo', 'Service') ? user.service : undefined,
    action: has('CollaborationInfo', 'Action') ? user.action : undefined,
    conversationId: has('CollaborationInfo', 'ConversationId') ? user.conversationId : undefined,
    messageProperties: pairs(user.messageProperties),
    payloads: user.payloads.length === 0 ? undefined
      : user.payloads.map((p) => present({ href: p.href, properties: pairs(p.properties) })),
  });
}

function pairs(properties: readonly Property[]): NamedValue[] | undefined {
  return properties.length === 0 ? undefined : properties.map((p) => [p.name, p.value]);
}

function describeSignal(signal: SignalMessage): DescribedSignal {
  return present<DescribedSignal>({
    type: 'SignalMessage',
    messageId: trim(signal.messageId),
    timestamp: signal.timestamp === '' ? undefined : signal.timestamp,
    refToMessageId: signal.refToMessageId && trim(signal.refToMessageId),
    kinds: signal.kinds,
    mpc: signal.pullMpc,
    receipt: describeReceipt(signal),
    errors: signal.errors.length === 0 ? undefined
      : signal.errors.map(({ code, severity, refToMessageInError, shortDescription }) =>
        present({ code, severity, refToMessageInError, shortDescription })),
  });
}

function describeReceipt(signal: SignalMessage): DescribedSignal['receipt'] {
  const element = child(signal.element, NS.eb, 'Receipt');
  if (element === undefined || signal.receipt === undefined) return undefined;
  const copy = copiedUserMessage(element);
  return present<NonNullable<DescribedSignal['receipt']>>({
    nonRepudiation: signal.receipt.nri !== undefined,
    copyOfUserMessage: copy !== undefined,
    copiedMessageId: copy?.messageId,
    references: signal.receipt.nri?.map((r) => ({ uri: r.uri, digest: r.digestValue })),
  });
}

/** What the standards demand of the UserMessage and it does not have; as4-once reads it all the same. */
export function warningsOf(envelope: Envelope, described: readonly DescribedMessage[]): string[] {
  const id = envelope.userMessage?.messageId ?? '';
  const padded = id === trim(id) ? [] : ['MessageId has white space around it, which is not part of it'];
  return [...padded, ...described.flatMap((message) => {
    if (message.type !== 'UserMessage') return [];
    const hrefs = (message.payloads ?? []).flatMap((p) => (p.href === undefined ? [] : [p.href]));
    const foreign = hrefs.filter((href) => !/^(cid:|#)/i.test(href))
      .map((href) => `PartInfo href '${href}' is not a cid: reference`);
    const twice = new Set(hrefs).size < hrefs.length ? ['duplicate PartInfo href'] : [];
    const lacking = (['from', 'to', 'timestamp', 'action', 'conversationId', 'service'] as const)
      .filter((name) => message[name] === undefined).map((name) => `UserMessage without ${name}`);
    return [...foreign, ...twice, ...lacking];
  })];
}
