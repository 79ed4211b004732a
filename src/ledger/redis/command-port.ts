/** The narrow part of a Redis client that the ledger needs. One adapter for each client library; replies come as Buffers. */

export type Arg = string | Buffer;
export type Reply = Buffer | string | number | null | undefined | readonly Reply[];

export interface RedisPort {
  readonly client: 'ioredis' | 'node-redis';
  readonly cluster: boolean;
  /** What the client itself puts before every key. `evaluate` adds it; patterns and replies of SCAN have to mind it. */
  readonly keyPrefix: string;
  /** Runs a script on the master that owns the keys (all of them in one slot), never on a replica. */
  evaluate(call: Evaluation): Promise<Reply>;
  /**
   * The same, followed by WAIT on the same connection and with nothing between them: WAIT counts the replicas that have
   * the writes of its own connection, on any other it answers at once and proves nothing.
   */
  evaluateAndWait(call: Evaluation, replicas: number, timeoutMs: number): Promise<{ readonly reply: Reply; readonly replicas: number }>;
  /** The masters; one where there is no cluster. */
  nodes(): Promise<readonly RedisNode[]>;
  /** Hears a channel on a connection of its own, again after every reconnect. */
  subscribe(channel: string, heard: (message: string) => void): Promise<void>;
  /** Called when a connection was lost. */
  onLost(lost: () => void): void;
  /** Why there is no connection, as the last attempt at one ended; undefined where there is one, or nobody can tell. */
  trouble(): unknown;
  /** Connects, and resolves when commands can be sent; an adapter goes on trying after a rejection. */
  connect(): Promise<void>;
  /** Ends the connections the adapter opened; a client handed in by the caller stays open. */
  close(): Promise<void>;
}

export interface Evaluation {
  readonly how: 'EVALSHA' | 'EVAL';
  /** SHA-1, or the script itself. */
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: readonly Arg[];
}

export interface RedisNode {
  readonly id: string;
  send(args: readonly Arg[]): Promise<Reply>;
}

/** How to reach Redis; one of url, sentinel, cluster. */
export interface Connection {
  readonly url?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Number of the database; not in a cluster. */
  readonly database?: number | undefined;
  readonly sentinel?: {
    readonly name: string;
    /** host:port each. */
    readonly nodes: readonly string[];
    readonly username?: string | undefined;
    readonly password?: string | undefined;
  } | undefined;
  readonly cluster?: { readonly nodes: readonly string[] } | undefined;
  readonly tls?: TlsMaterial | undefined;
  /** ms. */
  readonly commandTimeout: number;
  /** ms. */
  readonly connectTimeout: number;
}

/** Contents of the PEM files, as node:tls takes them. */
export interface TlsMaterial {
  readonly ca?: readonly Buffer[];
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly passphrase?: string;
  readonly servername?: string;
}

/** host:port, with IPv6 addresses in square brackets. */
export function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

/** Pause before the n-th attempt to reconnect, ms. */
export const retryDelay = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2_000);
