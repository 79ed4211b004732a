/**
 * Packs the identifiers that stand in Receipts: UUIDs become 16 octets, runs of hex digits half their length, what
 * products put around them one octet, and what stood in an earlier text of the same Receipt three. Any text comes back
 * exactly. Part of version 1 of the compact Receipt, so entries are never changed or reordered, only appended (at most
 * 128).
 */
const AFFIXES = [
  '#phase4-msg-', 'cid:phase4-att-', '@cid', '@phase4', '#id-', 'cid:', '@as4-once', '#_', '#', '@', 'S12', 'env',
  'eb3', 'soapenv', ' xsd xsi', 'eb3 soapenv xsd xsi', 'soapenv xsd xsi', 'eb3 xsd xsi', 'soap', '#body-', '#header-',
  'payload_', 'id-', '.com', '.org', '.net', '.eu', '@domibus.eu', 'urn:', 'http://', 'phase4', 'peppol',
] as const;

const UUID = 1;
const HEX_RUN = 2;
/** `-xxxx-xxxx-xxxx-xxxxxxxxxxxx`: what is left of a UUID whose first group is longer or shorter. */
const UUID_TAIL = 3;
const OTHER_RUN = 4;
/** Offset and length within the texts packed before. */
const EARLIER = 5;
const FIRST_AFFIX = 0x80;

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const TAIL_FORM = /^-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const HEX_FORM = /^[0-9a-f]{6,254}/;
const OTHER_FORM = /^[^\x20-\x7e]{1,60}/u;

const FORMS = [
  [UUID, UUID_FORM], [UUID_TAIL, TAIL_FORM], [HEX_RUN, HEX_FORM], [OTHER_RUN, OTHER_FORM],
] as const;

/** Offsets and lengths take one octet each. */
const REACH = 255;
/** Shorter ones cost more than they save. */
const SHORTEST = 5;

/** Packs the texts of one Receipt, one after the other. */
export class TextPacker {
  #earlier = '';

  pack(text: string): Uint8Array {
    const out: Uint8Array[] = [];
    for (let at = 0; at < text.length;) {
      const rest = text.slice(at, at + REACH);
      const [form, taken] = match(rest);
      const earlier = longestEarlier(rest, this.#earlier);
      const affix = longestAffix(rest);
      if (earlier.length >= SHORTEST && earlier.length >= taken.length) {
        out.push(Uint8Array.of(EARLIER, earlier.at, earlier.length));
        at += earlier.length;
      } else if (form === undefined && affix >= 0) {
        out.push(Uint8Array.of(FIRST_AFFIX + affix));
        at += (AFFIXES[affix] ?? '').length;
      } else {
        out.push(packRun(form, taken));
        at += taken.length;
      }
    }
    this.#earlier = remembered(this.#earlier, text);
    return Buffer.concat(out);
  }
}

const remembered = (earlier: string, text: string): string => (earlier + text).slice(0, REACH);

function longestEarlier(rest: string, earlier: string): { at: number; length: number } {
  let best = { at: 0, length: 0 };
  for (let at = 0; at < earlier.length; at++) {
    let length = 0;
    while (length < rest.length && at + length < earlier.length && rest[length] === earlier[at + length]) length++;
    if (isHighSurrogate(rest.charCodeAt(length - 1))) length--;
    if (length > best.length) best = { at, length };
  }
  return best;
}

function longestAffix(rest: string): number {
  let best = -1;
  for (const [i, affix] of AFFIXES.entries()) {
    if (rest.startsWith(affix) && affix.length > (AFFIXES[best] ?? '').length) best = i;
  }
  return best;
}

function match(rest: string): readonly [form: number | undefined, taken: string] {
  for (const [form, pattern] of FORMS) {
    const found = pattern.exec(rest)?.[0];
    if (found !== undefined) return [form, found];
  }
  return [undefined, rest.slice(0, 1)];
}

function packRun(form: number | undefined, taken: string): Uint8Array {
  const hex = taken.replaceAll('-', '');
  switch (form) {
    case UUID:
    case UUID_TAIL:
      return Buffer.concat([Uint8Array.of(form), Buffer.from(hex, 'hex')]);
    case HEX_RUN:
      // half an octet is left over where the count is odd
      return Buffer.concat([
        Uint8Array.of(form, taken.length), Buffer.from(hex.length % 2 === 0 ? hex : `${hex}0`, 'hex'),
      ]);
    case OTHER_RUN: {
      const bytes = Buffer.from(taken);
      return Buffer.concat([Uint8Array.of(form, bytes.length), bytes]);
    }
    case undefined:
    default:
      return Buffer.from(taken, 'latin1');
  }
}

/** A match must not end within a character. */
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** Undoes TextPacker: the texts have to come in the same order. */
export class TextUnpacker {
  #earlier = '';

  /** Undefined where the bytes are not TextPacker's work. */
  unpack(packed: Uint8Array): string | undefined {
    const bytes = Buffer.from(packed);
    let text = '';
    for (let at = 0; at < bytes.length;) {
      const step = unpackOne(bytes, at, this.#earlier);
      if (step === undefined) return undefined;
      text += step.text;
      at = step.next;
    }
    this.#earlier = remembered(this.#earlier, text);
    return text;
  }
}

function unpackOne(bytes: Buffer, start: number, earlier: string): { text: string; next: number } | undefined {
  const code = bytes[start] ?? 0;
  const at = start + 1;
  if (code >= FIRST_AFFIX) {
    const affix = AFFIXES[code - FIRST_AFFIX];
    return affix === undefined ? undefined : { text: affix, next: at };
  }
  if (code >= 0x20 && code < 0x7f) return { text: String.fromCharCode(code), next: at };
  const count = bytes[at] ?? 0;
  if (code === EARLIER) {
    const length = bytes[at + 1] ?? 0;
    return count + length > earlier.length ? undefined : { text: earlier.slice(count, count + length), next: at + 2 };
  }
  const counted = code === HEX_RUN || code === OTHER_RUN;
  const octets = octetsOf(code, count);
  const from = counted ? at + 1 : at;
  if (octets < 0 || from + octets > bytes.length) return undefined;
  const run = bytes.subarray(from, from + octets);
  const text = code === OTHER_RUN
    ? run.toString('utf8') : grouped(code, run.toString('hex').slice(0, counted ? count : undefined));
  return { text, next: from + octets };
}

function octetsOf(code: number, count: number): number {
  if (code === UUID) return 16;
  if (code === UUID_TAIL) return 12;
  if (code === HEX_RUN) return Math.ceil(count / 2);
  return code === OTHER_RUN ? count : -1;
}

function grouped(code: number, hex: string): string {
  if (code === UUID) return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return code === UUID_TAIL ? hex.replace(/^(.{4})(.{4})(.{4})(.{12})$/, '-$1-$2-$3-$4') : hex;
}
