import type { Facts, Fingerprint, Message, Party } from '../message.js';
import type { EdifactInterchange, Interchange, X12Interchange } from './interchange.js';
import type { Partner, SbdHeader } from './sbdh.js';

/** Message types named in a log line; a file may hold hundreds. */
const NAMED_TYPES = 5;

/** The interchange as the walk sees it. Its fingerprint covers its own bytes, from UNA or UNB to UNZ, ISA to IEA. */
export function messageOf(interchange: Interchange): Message {
  return interchange.syntax === 'edifact' ? edifactMessage(interchange) : x12Message(interchange);
}

/** Identity: 0020 with sender and recipient and their qualifiers (ISO 9735-1, UNB); 0035 keeps tests apart. */
function edifactMessage(one: EdifactInterchange): Message {
  return {
    protocol: 'edifact',
    reference: one.controlRef,
    facts: factsOf(party(one.sender, one.senderQualifier), party(one.recipient, one.recipientQualifier), one.messageTypes, epochOf(one.date, one.time)),
    fingerprint: fingerprintOf(one.sha256),
    signed: false,
    extra: { test: one.testIndicator ?? '', datetime: `${one.date ?? ''}:${one.time ?? ''}` },
  };
}

/** Identity: ISA13 with ISA05-06 and ISA07-08 (X12.5); ISA15 keeps tests apart. */
function x12Message(one: X12Interchange): Message {
  const isa = (index: number): string => one.isa[index] ?? '';
  return {
    protocol: 'x12',
    reference: isa(13),
    facts: factsOf(party(isa(6), isa(5)), party(isa(8), isa(7)), one.messageTypes, epochOf(isa(9), isa(10))),
    fingerprint: fingerprintOf(one.sha256),
    signed: false,
    extra: { test: isa(15), datetime: `${isa(9)}:${isa(10)}` },
  };
}

/** Identity: DocumentIdentification/InstanceIdentifier, with its sender. `sha256` is that of the whole document. */
export function sbdhMessage(header: SbdHeader, sha256: string): Message {
  const scope = (type: string) => header.scopes.find((one) => one.type === type);
  const [document, process] = [scope('DOCUMENTID'), scope('PROCESSID')];
  const timestamp = Date.parse(header.creationDateAndTime);
  return {
    protocol: 'sbdh',
    reference: header.instanceIdentifier,
    facts: {
      from: [partner(header.sender)],
      to: [partner(header.receiver)],
      c1: header.sender.value,
      c4: header.receiver.value,
      ...(document === undefined ? {} : { action: schemed(document) }),
      ...(process === undefined ? {} : { service: process.instanceIdentifier }),
      ...(process?.identifier === undefined ? {} : { serviceType: process.identifier }),
      ...(Number.isNaN(timestamp) ? {} : { timestamp }),
    },
    fingerprint: fingerprintOf(sha256),
    signed: false,
  };
}

export function fingerprintOf(sha256: string): Fingerprint {
  return `plain:${sha256}`;
}

function factsOf(from: Party, to: Party, types: readonly string[], timestamp: number | undefined): Facts {
  const action = types.length === 0 ? undefined : `${types.slice(0, NAMED_TYPES).join(',')}${types.length > NAMED_TYPES ? ',…' : ''}`;
  return { from: [from], to: [to], ...(action === undefined ? {} : { action }), ...(timestamp === undefined ? {} : { timestamp }) };
}

function party(value: string, type: string | undefined): Party {
  return type === undefined || type === '' ? { value } : { value, type };
}

function partner({ value, authority }: Partner): Party {
  return party(value, authority);
}

/** As AS4 carries it in the action; the default scheme is Peppol's. */
function schemed({ identifier, instanceIdentifier }: { readonly identifier?: string; readonly instanceIdentifier: string }): string {
  const scheme = identifier ?? (instanceIdentifier.includes('##') ? 'busdox-docid-qns' : undefined);
  return scheme === undefined ? instanceIdentifier : `${scheme}::${instanceIdentifier}`;
}

/** Two-digit years from here on are of the last century. */
const PIVOT = 70;

/**
 * Epoch ms of an envelope's date (YYMMDD or CCYYMMDD) and time (HHMM), read as UTC although writers mean their own zone:
 * it only serves to recognise copies older than a window of days. Undefined where it is no date.
 */
function epochOf(date: string | undefined, time: string | undefined): number | undefined {
  const match = /^(\d\d)?(\d\d)(\d\d)(\d\d)$/.exec(date ?? '');
  if (match === null) return undefined;
  const [, century, year = '', month = '', day = ''] = match;
  const full = century === undefined ? (Number(year) >= PIVOT ? 1900 : 2000) + Number(year) : Number(`${century}${year}`);
  const clock = /^([01]\d|2[0-3])([0-5]\d)/.exec(time ?? '');
  const epoch = Date.UTC(full, Number(month) - 1, Number(day), Number(clock?.[1] ?? 0), Number(clock?.[2] ?? 0));
  return new Date(epoch).getUTCDate() === Number(day) && new Date(epoch).getUTCMonth() === Number(month) - 1 ? epoch : undefined;
}
