import { LISTED, type Acknowledgement, type Verdict } from './interchange.js';

/** DE 715: the whole group was refused. A, E and P accept all or part of it. */
const REFUSED = new Set(['R', 'M', 'W', 'X']);

/** Gathers what TA1 segments and 997 and 999 transaction sets say of other interchanges (X12.5; 997 and 999 guides). */
export class X12Acknowledgements {
  readonly #list: Acknowledgement[] = [];
  #type = '';
  #others = false;
  /** The group that the open set acknowledges. */
  #group: { id: string; number: string; code: string; accepted: number; rejected: number } | undefined;

  openSet(type: string): void {
    this.closeSet();
    this.#type = type;
    this.#others ||= type !== '997' && type !== '999';
  }

  segment(tag: string, values: readonly string[]): void {
    if (tag === 'TA1') {
      const [controlNumber = '', date = '', time = '', code = '', note = ''] = values;
      this.#add({ kind: 'TA1', verdict: code === 'R' ? 'negative' : 'positive', controlNumber, date, time, code, note });
    }
    if (this.#type !== '997' && this.#type !== '999') return;
    if (tag === 'AK1') this.#group = { id: values[0] ?? '', number: values[1] ?? '', code: '', accepted: 0, rejected: 0 };
    if (this.#group === undefined) return;
    if (tag === 'AK5' || tag === 'IK5') {
      if (REFUSED.has(values[0] ?? '')) this.#group.rejected += 1;
      else this.#group.accepted += 1;
    }
    if (tag === 'AK9') this.#group.code = values[0] ?? '';
  }

  closeSet(): void {
    const group = this.#group;
    const kind = this.#type === '999' ? '999' : '997';
    this.#type = '';
    this.#group = undefined;
    if (group === undefined) return;
    const { id, number, code, accepted, rejected } = group;
    this.#add({ kind, verdict: verdictOf(code, accepted, rejected), functionalId: id, groupNumber: number, code, accepted, rejected });
  }

  #add(acknowledgement: Acknowledgement): void {
    if (this.#list.length < LISTED) this.#list.push(acknowledgement);
  }

  get any(): boolean {
    return this.#list.length > 0;
  }

  /** Acknowledgements and nothing else. */
  get only(): boolean {
    return this.#list.length > 0 && !this.#others;
  }

  list(): readonly Acknowledgement[] {
    return this.#list;
  }
}

/** AK9 speaks for the group. Where it is missing, or says that a part was accepted, the sets decide. */
function verdictOf(code: string, accepted: number, rejected: number): Verdict {
  if (REFUSED.has(code)) return 'negative';
  if (code === 'P') return 'partial';
  if (rejected === 0) return 'positive';
  return accepted === 0 ? 'negative' : 'partial';
}
