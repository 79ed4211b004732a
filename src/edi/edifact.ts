import { EdiBroken, Findings, type Checks, type Place } from './broken.js';
import { Elements, textOf } from './elements.js';
import { LISTED, LISTED_TYPES, type EdifactInterchange } from './interchange.js';
import { readUci, type Contrl } from './contrl.js';
import { isSpace, tagOf, tagTable } from './segments.js';
import type { Head, Syntax } from './syntax.js';
import { readUnb, type Unb } from './unb.js';
import { advice, DEFAULTS, type Una } from './una.js';

/** Characters allowed between UNA and UNB. */
const GAP = 64;

export const INTERACTIVE = 'interactive EDIFACT (UIB) is not supported';

/** Reads EDIFACT interchanges: UNA, UNB to UNZ, with the counts and references of UNG/UNE and UNH/UNT (ISO 9735-1). */
export class EdifactSyntax implements Syntax {
  readonly name = 'edifact';
  // 'UC' is for UCI; other service segments of CONTRL only cost a lookup
  readonly wanted = tagTable(['UN', 'UC', 'UI']);
  remark = '';
  readonly #checks: Checks;
  #una: Una = DEFAULTS;
  /** Interchanges begun. */
  #begun = 0;
  /** An interchange before had separators of its own, by its UNA. They do not hold for the next (ISO 9735-1, 8). */
  #advised = false;
  #interchange = emptyInterchange('warn');

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  head(head: Uint8Array, offset: number): Head {
    let from = 0;
    let una = DEFAULTS;
    if (tagOf(head) === 'UNA') {
      if (head.length < 9) return { need: 9 };
      una = advice(head.subarray(0, 9), offset);
      from = 9;
      while (from < head.length && isSpace(head[from] ?? 0)) from += 1;
      if (from > 9 + GAP) throw new EdiBroken('no UNB after UNA', { segment: 0, tag: 'UNA', offset });
    }
    this.remark = from === 0 && this.#advised ? `: interchange ${this.#begun + 1} without UNA, for which the default separators hold` : '';
    if (head.length < from + 4) return { need: Math.max(head.length + 1, from === 0 ? 4 : 0) };
    if (tagOf(head.subarray(from)) !== 'UNB' || head[from + 3] !== una.marks.element) {
      const found = Buffer.from(head.subarray(from, from + 3)).toString('latin1');
      const without = found === 'UIB' ? INTERACTIVE : 'no UNB after UNA';
      const why = found === 'UNB' ? `UNB is not followed by the element separator${this.remark}` : without;
      throw new EdiBroken(why, { segment: 1, tag: tagOf(head.subarray(from)), offset: offset + from });
    }
    this.#una = una;
    this.#begun += 1;
    this.#advised ||= una.marks.element !== DEFAULTS.marks.element || una.terminator !== DEFAULTS.terminator;
    this.#interchange = emptyInterchange(this.#checks);
    return { ending: { terminator: una.terminator, release: una.marks.release }, from, read: 0 };
  }

  rawBehind(): undefined {
    return undefined;
  }

  segment(bytes: Buffer, place: Place): number | 'stop' {
    const behind = bytes[3];
    const { marks } = this.#una;
    if (place.tag === 'UNA' && bytes.length >= 8) return this.#misplaced('UNA', place);
    if (bytes.length > 3 && behind !== marks.element && behind !== marks.component) return 0;
    const current = this.#interchange;
    switch (place.tag) {
      case 'UNB':
        if (current.unb !== undefined) return this.#misplaced('UNB', place);
        current.unb = readUnb(this.#split(bytes), place);
        return 0;
      case 'UNG':
      case 'UNE':
        this.#group(place, this.#split(bytes));
        return 0;
      case 'UNH':
      case 'UNT':
        this.#message(place, this.#split(bytes));
        return 0;
      case 'UNO':
        return objectLength(this.#split(bytes), place);
      case 'UCI':
        if (current.type === 'CONTRL' && current.acknowledges.length < LISTED) {
          current.acknowledges.push(readUci(this.#split(bytes), current.unb?.syntaxId ?? '', place));
        }
        return 0;
      case 'UNZ':
        this.#trailer(place, this.#split(bytes));
        return 'stop';
      default:
        return 0;
    }
  }

  unterminated(bytes: Buffer, place: Place): boolean {
    const { unb, findings } = this.#interchange;
    if (place.tag !== 'UNZ' || this.#text(this.#split(bytes), 2, 0, place) !== unb?.controlRef) return false;
    findings.add('interchange', 'missing', 'the terminator of UNZ is missing', place);
    return this.segment(bytes, place) === 'stop';
  }

  #split(bytes: Buffer): Elements {
    return new Elements(bytes, this.#una.marks);
  }

  #misplaced(tag: string, place: Place): never {
    throw new EdiBroken(`${tag} inside an interchange: its UNZ is missing`, place);
  }

  #text(elements: Elements, element: number, component: number, place: Place): string | undefined {
    const bytes = elements.value(element, component);
    return bytes === undefined || bytes === '' ? undefined : textOf(bytes, this.#interchange.unb?.syntaxId ?? '', place);
  }

  #group(place: Place, elements: Elements): void {
    const current = this.#interchange;
    if (place.tag === 'UNG') {
      current.groupCount += 1;
      current.groupMessages = 0;
      const ref = this.#text(elements, 5, 0, place);
      const type = this.#text(elements, 1, 0, place);
      current.groupRef = ref;
      if (current.groups.length < LISTED) {
        current.groups.push({ ...(type === undefined ? {} : { type }), ...(ref === undefined ? {} : { ref }) });
      }
      return;
    }
    const count = this.#text(elements, 1, 0, place);
    const ref = this.#text(elements, 2, 0, place);
    if (ref !== current.groupRef) {
      current.findings.add('group', 'reference', `UNE reference '${ref ?? ''}' != UNG 0048 '${current.groupRef ?? ''}'`, place);
    }
    if (differs(count, current.groupMessages)) {
      current.findings.add('group', 'count', `UNE count ${count}, counted ${current.groupMessages}`, place);
    }
  }

  #message(place: Place, elements: Elements): void {
    const current = this.#interchange;
    if (place.tag === 'UNH') {
      if (current.began !== 0) current.findings.add('message', 'missing', `UNH '${current.messageRef}' has no UNT`, place);
      const ref = this.#text(elements, 1, 0, place) ?? '';
      current.began = place.segment;
      current.messageRef = ref;
      current.type = this.#text(elements, 2, 0, place) ?? '';
      current.others ||= current.type !== 'CONTRL';
      if (current.type !== '' && current.types.size < LISTED_TYPES) current.types.add(current.type);
      current.messageCount += 1;
      current.groupMessages += 1;
      if (current.messageRefs.length < LISTED) {
        if (current.seen.has(ref)) current.repeated = true;
        current.seen.add(ref);
        current.messageRefs.push(ref);
      }
      return;
    }
    const count = this.#text(elements, 1, 0, place);
    const ref = this.#text(elements, 2, 0, place) ?? '';
    const counted = current.began === 0 ? 0 : place.segment - current.began + 1;
    if (current.began === 0) current.findings.add('message', 'missing', `UNT '${ref}' without UNH`, place);
    else if (ref !== current.messageRef) current.findings.add('message', 'reference', `UNT reference '${ref}' != UNH 0062 '${current.messageRef}'`, place);
    if (differs(count, counted)) current.findings.add('message', 'count', `UNT count ${count}, counted ${counted}`, place);
    current.began = 0;
    current.type = '';
  }

  #trailer(place: Place, elements: Elements): void {
    const current = this.#interchange;
    const count = this.#text(elements, 1, 0, place);
    const ref = this.#text(elements, 2, 0, place);
    current.unz = { ...(count === undefined ? {} : { count }), ...(ref === undefined ? {} : { ref }) };
    const { findings } = current;
    const expected = current.unb?.controlRef;
    if (ref !== expected) {
      findings.add('interchange', 'reference', `UNZ reference '${ref ?? ''}' != UNB 0020 '${expected ?? ''}'`, place);
    }
    const counted = current.groupCount > 0 ? current.groupCount : current.messageCount;
    if (differs(count, counted)) findings.add('interchange', 'count', `UNZ count ${count}, counted ${counted}`, place);
    if (current.repeated) findings.add('message', 'repeated', 'repeated UNH reference', place);
    if (current.began !== 0) findings.add('message', 'missing', `UNH '${current.messageRef}' has no UNT`, place);
  }

  finish(extent: { readonly start: number; readonly end: number; readonly sha256: string }): EdifactInterchange {
    const current = this.#interchange;
    const { unb, unz, groups, groupCount, messageRefs, messageCount, acknowledges } = current;
    if (unb === undefined) throw new EdiBroken('no UNB', { segment: 0, tag: '', offset: extent.start });
    const { text, marks, repetition, ...una } = this.#una;
    const four = Number(unb.syntaxVersion ?? '1') >= 4;
    const delimiters = {
      component: letter(marks.component),
      element: letter(marks.element),
      decimal: letter(una.decimal),
      ...(marks.release === -1 ? {} : { release: letter(marks.release) }),
      ...(four && repetition !== -1 ? { repetition: letter(repetition) } : {}),
      terminator: letter(una.terminator),
    };
    return {
      syntax: 'edifact', ...extent, ...(text === undefined ? {} : { una: text }), delimiters, ...unb,
      groups, groupCount, messageRefs, messageCount, unz, unzMatches: unz.ref === unb.controlRef,
      findings: current.findings.list(), acknowledges, messageTypes: [...current.types],
      acknowledgement: messageCount > 0 && !current.others,
    };
  }
}

/** Where a count is a number and not the counted one. A count that is missing or no number is nobody's claim. */
function differs(count: string | undefined, counted: number): boolean {
  return count !== undefined && Number(count) !== counted && /^\d{1,15}$/.test(count);
}

/** UNO (ISO 9735-8): 0810, the length in octets of the object that follows the segment. */
function objectLength(elements: Elements, place: Place): number {
  const value = elements.value(4, 0) ?? '';
  if (!/^\d{1,15}$/.test(value)) throw new EdiBroken('UNO without the length of its object (0810)', place);
  return Number(value);
}

function letter(byte: number): string {
  return String.fromCharCode(byte);
}

/** What is gathered of one interchange while it passes. */
function emptyInterchange(checks: Checks) {
  return {
    unb: undefined as Unb | undefined,
    unz: {} as { count?: string; ref?: string },
    groups: [] as { type?: string; ref?: string }[],
    groupCount: 0,
    groupMessages: 0,
    groupRef: undefined as string | undefined,
    messageRefs: [] as string[],
    messageCount: 0,
    messageRef: '',
    /** Segment number of the UNH of the open message, 0 where none is open. */
    began: 0,
    type: '',
    others: false,
    types: new Set<string>(),
    seen: new Set<string>(),
    repeated: false,
    acknowledges: [] as Contrl[],
    findings: new Findings(checks),
  };
}

