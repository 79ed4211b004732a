import { runCommand } from '../target/command.js';
import type { DeliveryCounter } from './counter.js';

/**
 * Counts the lines of a command's output that hold the token: one line a delivery. The token is also given as the
 * command's last argument, for commands that ask a database.
 */
export class CommandCounter implements DeliveryCounter {
  readonly place: string;
  readonly #command: readonly string[];
  readonly #folder: string;
  readonly #limitMs: number;

  constructor(command: readonly string[], folder: string, limitMs: number) {
    this.#command = command;
    this.#folder = folder;
    this.#limitMs = limitMs;
    this.place = `command ${command.join(' ')}`;
  }

  async count(token: string): Promise<number> {
    const output = await runCommand([...this.#command, token], this.#folder, this.#limitMs);
    return output.split('\n').filter((line) => line.includes(token)).length;
  }

  async close(): Promise<void> {
    // nothing is held open
  }
}
