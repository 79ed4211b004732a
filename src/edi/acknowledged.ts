import type { Message, Party } from '../message.js';
import type { Acknowledgement, Interchange, X12Interchange } from './interchange.js';
import { messageOf } from './message-of.js';

/** As much of a message as an acknowledgement tells of it: enough for its key. */
export type Named = Omit<Message, 'fingerprint'>;

/** The `type` of a reference that names a functional group and not an interchange. */
export const GROUP = 'group';

/**
 * What an acknowledgement speaks of. `carrier` is the interchange it came in: TA1 and 997/999 name no parties, so those
 * they came from are taken, reversed. The acknowledged message's test indicator is not told; `tests` lists what it may
 * be, likeliest first. CONTRL does not tell date and time either: `extra` lacks them then.
 */
export function acknowledged(ack: Acknowledgement, carrier: Interchange): { readonly message: Named; readonly tests: readonly string[] } {
  if (ack.kind === 'CONTRL') {
    const facts = { from: [party(ack.sender, ack.senderQualifier)], to: [party(ack.recipient, ack.recipientQualifier)] };
    const own = carrier.syntax === 'edifact' ? (carrier.testIndicator ?? '') : '';
    return { message: { protocol: 'edifact', reference: ack.controlRef, facts, signed: false }, tests: distinct(own, '', '1') };
  }
  const { facts, extra } = messageOf(carrier);
  const reversed = { from: facts.to, to: facts.from };
  const tests = distinct(extra?.['test'] ?? '', 'P', 'T', 'I');
  if (ack.kind === 'TA1') {
    const datetime = `${ack.date}:${ack.time}`;
    return { message: { protocol: 'x12', reference: ack.controlNumber, facts: reversed, signed: false, extra: { datetime } }, tests };
  }
  return { message: groupName(ack.functionalId, ack.groupNumber, reversed.from, reversed.to), tests };
}

/** The names under which the groups of an interchange are acknowledged (AK1: GS01 and GS06, between the same parties). */
export function groupsOf(interchange: X12Interchange): Named[] {
  const { facts, extra } = messageOf(interchange);
  const names = new Map(interchange.groups.map(({ GS01, GS06 }) => {
    const name = groupName(GS01, GS06, facts.from, facts.to);
    return [name.reference, { ...name, extra: { test: extra?.['test'] ?? '' } }] as const;
  }));
  return [...names.values()];
}

/** Whether an acknowledgement speaks of this interchange. Whatever the acknowledgement leaves out does not count. */
export function speaksOf(ack: Acknowledgement, carrier: Interchange, original: Interchange): boolean {
  const { message } = acknowledged(ack, carrier);
  const own = messageOf(original);
  if (own.protocol !== message.protocol || !sameParties(message.facts, own.facts)) return false;
  if (message.type === GROUP) {
    return original.syntax === 'x12' && original.groups.some(({ GS01, GS06 }) => groupReference(GS01, GS06) === message.reference);
  }
  const datetime = message.extra?.['datetime'];
  return own.reference === message.reference && (datetime === undefined || datetime === own.extra?.['datetime']);
}

function groupName(functionalId: string, number: string, from: readonly Party[], to: readonly Party[]): Named {
  return { protocol: 'x12', type: GROUP, reference: groupReference(functionalId, number), facts: { from, to }, signed: false };
}

/** Numbers are compared as numbers: some translators drop leading zeros in AK102. */
function groupReference(functionalId: string, number: string): string {
  return `${functionalId}:${number.replace(/^0+(?=.)/, '')}`;
}

function sameParties(told: Named['facts'], own: Named['facts']): boolean {
  return (['from', 'to'] as const).every((side) => {
    const [a, b] = [told[side][0], own[side][0]];
    // a qualifier that the acknowledgement leaves out may be any
    return a?.value === b?.value && (a?.type === undefined || a.type === b?.type);
  });
}

function party(value: string, type: string | undefined): Party {
  return type === undefined ? { value } : { value, type };
}

function distinct(...values: string[]): string[] {
  return [...new Set(values)];
}
