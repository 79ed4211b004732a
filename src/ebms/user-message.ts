import { As4OnceError } from '../errors.js';
import type { Limits } from '../limits.js';
import type { Party } from '../message.js';
import { attribute, children, text } from '../xml/tree.js';
import type { XmlElement } from '../xml/tree.js';
import { bounded, nameIn, only, onlyText, present, trim, trimmedText } from './elements.js';
import { NS } from './namespaces.js';
import type { PartInfo, Property, UserMessage } from './units.js';

/** Most PartyIds on one side. The schema sets no bound; each names the same party under another type (Core 5.2.2.4). */
const MAX_PARTY_IDS = 32;

/**
 * Reads eb:UserMessage (ebMS 3.0 Core 5.2.2). Only what makes a key is demanded: the MessageId. Other elements that the
 * schema requires read as empty where they are missing, since judging them is the access point's business; two of one
 * kind are refused, since receivers differ in which they read. Throws HEADER_INVALID, MESSAGE_ID_INVALID or
 * PARTY_ID_INVALID.
 */
export function readUserMessage(element: XmlElement, limits: Limits): UserMessage {
  const info = readMessageInfo(element, limits);
  const parties = only(element, 'PartyInfo');
  const collaboration = only(element, 'CollaborationInfo');
  const agreement = collaboration && only(collaboration, 'AgreementRef');
  const service = collaboration && only(collaboration, 'Service');
  return present<UserMessage>({
    type: 'UserMessage',
    ...info,
    mpc: attribute(element, '', 'mpc'),
    from: readParty(parties, 'From', limits),
    to: readParty(parties, 'To', limits),
    agreement: agreement && present<NonNullable<UserMessage['agreement']>>({
      value: trimmedText(agreement), type: attribute(agreement, '', 'type'), pmode: attribute(agreement, '', 'pmode'),
    }),
    service: present<UserMessage['service']>({
      value: service === undefined ? '' : trimmedText(service), type: service && attribute(service, '', 'type'),
    }),
    action: (collaboration && onlyText(collaboration, 'Action')) ?? '',
    conversationId: (collaboration && onlyText(collaboration, 'ConversationId')) ?? '',
    messageProperties: readProperties(only(element, 'MessageProperties')),
    payloads: readPayloads(only(element, 'PayloadInfo')),
    element,
  });
}

/**
 * eb:MessageInfo (Core 5.2.2.1) of either unit; `refToMessageId` is undefined where there is none. Ids are taken as
 * they stand, with white space around them if it is there: access points repeat them so, and exact comparison needs
 * it.
 */
export function readMessageInfo(unit: XmlElement, limits: Limits): {
  messageId: string; timestamp: string; refToMessageId: string | undefined;
} {
  const info = only(unit, 'MessageInfo');
  const id = info && only(info, 'MessageId');
  if (info === undefined || id === undefined) {
    throw new As4OnceError('HEADER_INVALID', `eb:MessageId missing in ${unit.local}`);
  }
  const reference = only(info, 'RefToMessageId');
  return {
    messageId: nameIn(id, limits.messageId, 'MESSAGE_ID_INVALID'),
    timestamp: onlyText(info, 'Timestamp') ?? '',
    refToMessageId: reference && text(reference),
  };
}

function readParty(parties: XmlElement | undefined, side: 'From' | 'To', limits: Limits): UserMessage['from'] {
  const party = parties && only(parties, side);
  if (party === undefined) return { ids: [] };
  const found = children(party, NS.eb, 'PartyId');
  if (found.length > MAX_PARTY_IDS) {
    throw new As4OnceError('PARTY_ID_INVALID', `${side} holds ${found.length} PartyIds`);
  }
  const ids = found.map((id) => {
    const type = attribute(id, '', 'type');
    if (type !== undefined) bounded(type, 'PartyId/@type', limits.partyId, 'PARTY_ID_INVALID');
    return present<Party>({ value: trim(nameIn(id, limits.partyId, 'PARTY_ID_INVALID')), type });
  });
  return present<UserMessage['from']>({ ids, role: onlyText(party, 'Role') });
}

function readProperties(holder: XmlElement | undefined): Property[] {
  if (holder === undefined) return [];
  return children(holder, NS.eb, 'Property').map((property) => present<Property>({
    name: attribute(property, '', 'name') ?? '', value: trimmedText(property), type: attribute(property, '', 'type'),
  }));
}

function readPayloads(holder: XmlElement | undefined): PartInfo[] {
  if (holder === undefined) return [];
  return children(holder, NS.eb, 'PartInfo').map((part) => present<PartInfo>({
    href: attribute(part, '', 'href'), properties: readProperties(only(part, 'PartProperties')),
  }));
}
