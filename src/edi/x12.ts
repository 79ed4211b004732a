import { EdiBroken, Findings, type Checks, type Place } from './broken.js';
import { isaNeeds, readIsa, type Isa } from './isa.js';
import { LISTED, LISTED_TYPES, type X12Group, type X12Interchange } from './interchange.js';
import { tagTable } from './segments.js';
import type { Head, Syntax } from './syntax.js';
import { X12Acknowledgements } from './x12-acks.js';

/** Segments that are read; others only count. */
const KNOWN = new Set(['ISA', 'GS', 'GE', 'ST', 'SE', 'IEA', 'TA1', 'AK1', 'AK5', 'IK5', 'AK9']);
const LONGEST = 255;
/** Elements that are read, tag included: GS08 is the last one needed. */
const READ = 9;
const DIGITS = /^\d{1,15}$/;

/** Reads X12 interchanges: ISA to IEA, with the counts and references of GS/GE and ST/SE (X12.5, X12.6). */
export class X12Syntax implements Syntax {
  readonly name = 'x12';
  readonly remark = '';
  readonly wanted = tagTable(['IS', 'IE', 'GS', 'GE', 'ST', 'SE', 'TA', 'AK', 'IK'], ['BI', 'BD']);
  readonly #checks: Checks;
  #isa: Isa | undefined;
  #current = empty('warn');

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  head(head: Uint8Array, offset: number): Head {
    const need = isaNeeds(head);
    if (head.length < need) return { need };
    this.#isa = readIsa(head, offset);
    this.#current = empty(this.#checks);
    return { ending: { terminator: this.#isa.terminator, release: -1 }, from: this.#isa.length, read: 1 };
  }

  /** BIN*length*data and BDS*filter*length*data: the data may hold any byte, the terminator included. */
  rawBehind(beginning: Uint8Array): number | 'more' | undefined {
    const text = Buffer.from(beginning).toString('latin1');
    if (text.length < 4) return /^B(I|IN|D|DS)$/.test(text) ? 'more' : undefined;
    const separator = this.#isa?.separators.element ?? '*';
    const [tag, ...values] = text.split(separator);
    if (tag !== 'BIN' && tag !== 'BDS') return undefined;
    const before = tag === 'BIN' ? 1 : 2;
    if (values.length <= before) return text.length < 40 ? 'more' : undefined;
    const length = values[before - 1] ?? '';
    if (!DIGITS.test(length)) return undefined;
    if (this.#current.binaryLengths.length < LISTED) this.#current.binaryLengths.push(Number(length));
    return Number(length);
  }

  segment(bytes: Buffer, place: Place): number | 'stop' {
    if (!KNOWN.has(place.tag)) return 0;
    const values = this.#values(bytes, place);
    switch (place.tag) {
      case 'ISA':
        throw new EdiBroken('ISA inside an interchange: its IEA is missing', place);
      case 'GS':
        this.#openGroup(values);
        return 0;
      case 'GE':
        this.#closeGroup(values, place);
        return 0;
      case 'ST':
        this.#openSet(values, place);
        return 0;
      case 'SE':
        this.#closeSet(values, place);
        return 0;
      case 'IEA':
        this.#trailer(values, place);
        return 'stop';
      default:
        this.#current.acknowledgements.segment(place.tag, values);
        return 0;
    }
  }

  unterminated(bytes: Buffer, place: Place): boolean {
    if (place.tag !== 'IEA' || this.#values(bytes, place)[1] !== this.#isa?.values[13]) return false;
    this.#current.findings.add('interchange', 'missing', 'the terminator of IEA is missing', place);
    return this.segment(bytes, place) === 'stop';
  }

  /**
   * The first elements behind the tag, as text without trailing blanks, which say nothing (X12.6); bytes beyond ASCII
   * are taken one by one, as the standard's own character sets are.
   */
  #values(bytes: Buffer, place: Place): string[] {
    const values = bytes.toString('latin1').split(this.#isa?.separators.element ?? '*', READ).map((value) => value.trimEnd());
    values.shift();
    if (bytes.length > LONGEST && values.some((value) => value.length > LONGEST)) {
      throw new EdiBroken(`an element is longer than ${LONGEST} bytes`, place);
    }
    return values;
  }

  #openGroup(values: readonly string[]): void {
    const current = this.#current;
    const group: X12Group = {
      GS01: values[0] ?? '', GS02: values[1] ?? '', GS03: values[2] ?? '', GS06: values[5] ?? '', GS08: values[7] ?? '',
    };
    current.group = group;
    current.groupCount += 1;
    current.groupSets = 0;
    current.setNumbers = new Set();
    current.differ ||= group.GS02 !== this.#isa?.values[6] || group.GS03 !== this.#isa.values[8];
    if (current.groups.length < LISTED) {
      if (current.groupNumbers.has(group.GS06)) current.repeatedGroup = true;
      current.groupNumbers.add(group.GS06);
      current.groups.push(group);
    }
  }

  #closeGroup(values: readonly string[], place: Place): void {
    const { group, groupSets, findings } = this.#current;
    const [count = '', number = ''] = values;
    if (group === undefined) findings.add('group', 'missing', `GE '${number}' without GS`, place);
    else if (number !== group.GS06) findings.add('group', 'reference', `GE02 '${number}' != GS06 '${group.GS06}'`, place);
    if (DIGITS.test(count) && Number(count) !== groupSets) {
      findings.add('group', 'count', `GE01 ${count}, counted ${groupSets} transaction sets`, place);
    }
    this.#current.group = undefined;
  }

  #openSet(values: readonly string[], place: Place): void {
    const current = this.#current;
    const [type = '', number = ''] = values;
    if (current.began !== 0) current.findings.add('message', 'missing', `ST '${current.setNumber}' has no SE`, place);
    current.began = place.segment;
    current.setNumber = number;
    current.transactionCount += 1;
    current.groupSets += 1;
    current.acknowledgements.openSet(type);
    if (type !== '' && current.types.size < LISTED_TYPES) current.types.add(type);
    if (current.transactions.length < LISTED) {
      if (current.setNumbers.has(number)) current.repeatedSet = true;
      current.setNumbers.add(number);
      current.transactions.push([type, number]);
    }
  }

  #closeSet(values: readonly string[], place: Place): void {
    const current = this.#current;
    const [count = '', number = ''] = values;
    if (current.began === 0) {
      current.findings.add('message', 'missing', `SE '${number}' without ST`, place);
      return;
    }
    const counted = place.segment - current.began + 1;
    if (number !== current.setNumber) {
      current.findings.add('message', 'reference', `SE02 '${number}' != ST02 '${current.setNumber}'`, place);
    }
    if (DIGITS.test(count) && Number(count) !== counted) {
      current.findings.add('message', 'count', `SE01 ${count}, counted ${counted} segments`, place);
    }
    current.began = 0;
    current.acknowledgements.closeSet();
  }

  #trailer(values: readonly string[], place: Place): void {
    const current = this.#current;
    const { findings } = current;
    const [count = '', number = ''] = values.map((value) => value.trim());
    current.iea = [count, number];
    const expected = this.#isa?.values[13] ?? '';
    if (number !== expected) findings.add('interchange', 'reference', `IEA02 '${number}' != ISA13 '${expected}'`, place);
    if (DIGITS.test(count) && Number(count) !== current.groupCount) {
      findings.add('interchange', 'count', `IEA01 ${count}, counted ${current.groupCount} groups`, place);
    }
    if (current.groupCount === 0 && !current.acknowledgements.any) findings.add('interchange', 'missing', 'no GS', place);
    if (current.repeatedGroup) findings.add('group', 'repeated', 'repeated GS06', place);
    if (current.repeatedSet) findings.add('message', 'repeated', 'repeated ST02', place);
    if (current.group !== undefined) findings.add('group', 'missing', `GS '${current.group.GS06}' has no GE`, place);
    if (current.began !== 0) findings.add('message', 'missing', `ST '${current.setNumber}' has no SE`, place);
  }

  finish(extent: { readonly start: number; readonly end: number; readonly sha256: string }, segments: number): X12Interchange {
    const isa = this.#isa;
    if (isa === undefined) throw new EdiBroken('no ISA', { segment: 0, tag: '', offset: extent.start });
    const { groups, groupCount, transactions, transactionCount, iea, binaryLengths, findings, acknowledgements, differ } = this.#current;
    return {
      syntax: 'x12', ...extent, separators: isa.separators, isa: isa.values, raw: isa.raw,
      groups, groupCount, transactions, transactionCount, iea, ieaMatches: iea[1] === isa.values[13], segments, binaryLengths,
      groupsNameOthers: differ,
      findings: findings.list(), acknowledges: acknowledgements.list(), acknowledgement: acknowledgements.only, messageTypes: [...this.#current.types],
    };
  }
}

/** What is gathered of one interchange while it passes. */
function empty(checks: Checks) {
  return {
    groups: [] as X12Group[],
    groupCount: 0,
    group: undefined as X12Group | undefined,
    groupSets: 0,
    groupNumbers: new Set<string>(),
    repeatedGroup: false,
    /** A group names other parties than the interchange: usual with VANs, so no finding. */
    differ: false,
    transactions: [] as (readonly [string, string])[],
    transactionCount: 0,
    types: new Set<string>(),
    setNumbers: new Set<string>(),
    setNumber: '',
    repeatedSet: false,
    /** Segment number of the ST of the open transaction set, 0 where none is open. */
    began: 0,
    iea: ['', ''] as [string, string],
    binaryLengths: [] as number[],
    acknowledgements: new X12Acknowledgements(),
    findings: new Findings(checks),
  };
}
