import type { Output } from '../exit.js';
import type { Requirement } from '../run/requirement.js';
import type { Result } from '../run/runner.js';

/** Live progress: one moving line on a terminal, and a lasting line for whatever did not pass. */
export class Progress {
  readonly #out: Output;
  readonly #live: boolean;
  readonly #running = new Set<string>();
  #done = 0;
  #total: number;

  constructor(out: Output, total: number) {
    this.#out = out;
    this.#live = out.isTTY === true;
    this.#total = total;
  }

  start(requirement: Requirement): void {
    this.#running.add(requirement.id);
    this.#line();
  }

  end(result: Result): void {
    this.#running.delete(result.requirement.id);
    this.#done += 1;
    if (result.verdict === 'fail' || result.verdict === 'warning' || result.verdict === 'error') {
      this.#clear();
      this.#out.write(
        `${result.verdict.padEnd(8)} ${result.requirement.id.padEnd(18)} ${result.requirement.title}\n         ` +
        `${printable(result.detail)}\n`,
      );
    }
    this.#line();
  }

  finish(): void {
    this.#clear();
  }

  #line(): void {
    if (!this.#live) return;
    const names = [...this.#running].slice(0, 4).join(' ');
    this.#out.write(`\r\u001b[2K${this.#done}/${this.#total} ${names}`);
  }

  #clear(): void {
    if (this.#live) this.#out.write('\r\u001b[2K');
  }
}

/** What a target answered must not move the cursor of a terminal. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f]/g,
    (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
