import { As4OnceError } from '../../errors.js';
import type { Contact } from '../contact.js';
import type { Arg, RedisPort, Reply } from './command-port.js';
import { asLedgerError, isNoScript, messageOf } from './errors.js';
import type { Script } from './scripts.js';

export interface Run {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args?: readonly Arg[];
  /** A full server is LEDGER_FULL to a new claim. */
  readonly claiming?: boolean;
  /** WAIT for so many replicas on the same connection. */
  readonly replicas?: number;
}

/** Runs scripts: bounded in time, loaded again once where the server lost them, every failure in the ledger's words. */
export class Runner {
  readonly port: RedisPort;
  readonly #contact: Contact;
  readonly #timeoutMs: number;
  #open = true;

  constructor(port: RedisPort, contact: Contact, timeoutMs: number) {
    this.port = port;
    this.#contact = contact;
    this.#timeoutMs = timeoutMs;
  }

  async run(run: Run): Promise<readonly Reply[]> {
    if (!this.#open) throw new As4OnceError('LEDGER_DOWN', 'the ledger was closed');
    try {
      const reply = await this.#evaluated(run);
      this.#contact.confirm();
      return Array.isArray(reply) ? reply : [reply];
    } catch (error) {
      const failure = asLedgerError(error, run.claiming ?? false, this.port.trouble());
      if (failure.code === 'LEDGER_DOWN') this.#contact.lose();
      throw failure;
    }
  }

  async #evaluated(run: Run): Promise<Reply> {
    try {
      return await this.#evaluate(run, 'EVALSHA');
    } catch (error) {
      if (isNoScript(error)) return await this.#evaluate(run, 'EVAL');
      throw error;
    }
  }

  async #evaluate({ script, keys, args = [], replicas = 0 }: Run, how: 'EVALSHA' | 'EVAL'): Promise<Reply> {
    const call = { how, script: how === 'EVALSHA' ? script.sha : script.body, keys, args };
    if (replicas === 0) return this.within(this.port.evaluate(call));
    const { reply, replicas: reached } = await this.within(this.port.evaluateAndWait(call, replicas, Math.ceil(this.#timeoutMs / 2)));
    if (reached < replicas) {
      throw new As4OnceError('LEDGER_DOWN', `${reached} of ${replicas} replicas have the claim (waitReplicas)`);
    }
    return reply;
  }

  /** The promise, or LEDGER_DOWN when it takes longer than a command may. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#silent()), this.#timeoutMs);
      promise.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }

  #silent(): As4OnceError {
    const trouble = this.port.trouble();
    const why = trouble === undefined ? '' : `: ${messageOf(trouble)}`;
    return new As4OnceError('LEDGER_DOWN', `Redis did not answer within ${this.#timeoutMs} ms${why}`);
  }

  close(): void {
    this.#open = false;
  }
}
