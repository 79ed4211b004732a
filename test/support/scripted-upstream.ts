import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * A real server on a loopback port that does with each request exactly what its script says, down to single bytes, and
 * records exactly what arrived. Steps are made in scripted-answers.ts.
 *
 *   const upstream = await startUpstream(receipt());            // every request gets a Receipt with its own digests
 *   upstream.next(reset('body'), plain(500, 'text/html', '…')); // the next two requests get these instead
 *   upstream.requests[0].body                                   // the bytes that arrived
 *   await upstream.arrived(2);                                  // waits until two requests arrived
 *   await upstream.close();
 */
export interface ScriptedUpstream {
  readonly url: string;
  readonly port: number;
  /** In order of arrival; also those that were cut. */
  readonly requests: readonly Received[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Steps for the next requests, before the standing one. */
  next(...steps: Step[]): void;
  /** The step for every request that has none of its own. */
  always(step: Step): void;
  /** The n-th request (from 1), once it is complete or its step has begun. */
  arrived(n: number): Promise<Received>;
  /** Stops listening and cuts all connections: from here on it refuses. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface Received {
  readonly method: string;
  readonly target: string;
  /** As they came, in order. */
  readonly headers: readonly (readonly [string, string])[];
  /** First value of a field. */
  header(name: string): string | undefined;
  /** Without transfer coding. */
  readonly body: Buffer;
  /** False where the connection ended, or the step acted, before the body did. */
  readonly complete: boolean;
  /** Which connection, counted from 1. */
  readonly connection: number;
}

/** When a step acts: on accept of the connection, after the head, somewhere in the body, or after the body. */
export type Phase = 'accept' | 'headers' | 'mid-body' | 'body';

export interface Step {
  readonly at: Phase;
  /** Writes to the socket whatever it likes. Resolves when the exchange is over. */
  act(request: Received, socket: Socket): void | Promise<void>;
}

interface Taken {
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer;
  complete: boolean;
  connection: number;
  header(name: string): string | undefined;
}

export async function startUpstream(standing: Step, path = '/as4'): Promise<ScriptedUpstream> {
  const requests: Received[] = [];
  const queue: Step[] = [];
  const sockets = new Set<Socket>();
  let waiting: (() => void)[] = [];
  let always = standing;
  let connections = 0;
  let port = 0;
  const record = (request: Received): void => {
    requests.push(request);
    for (const wake of waiting.splice(0)) wake();
  };
  const take = (): Step => queue.shift() ?? always;
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    void serve(socket, connections, take, () => queue[0] ?? always, record).catch(() => socket.destroy());
  });
  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      if (!server.listening) return resolve();
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen();
  return {
    get url() {
      return `http://127.0.0.1:${port}${path}`;
    },
    get port() {
      return port;
    },
    requests,
    get connections() {
      return connections;
    },
    next: (...steps) => void queue.push(...steps),
    always: (step) => void (always = step),
    arrived: async (n) => {
      for (;;) {
        const found = requests[n - 1];
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => (waiting = [...waiting, resolve]));
      }
    },
    stop,
    start: listen,
    close: stop,
  };
}

/** One connection: requests one after the other, each with its step. */
async function serve(socket: Socket, connection: number, take: () => Step, peek: () => Step, record: (r: Received) => void): Promise<void> {
  const input = new Input(socket);
  for (;;) {
    if (peek().at === 'accept') {
      const step = take();
      const request = empty(connection);
      record(request);
      await step.act(request, socket);
      if (socket.destroyed) return;
    }
    const head = await input.until('\r\n\r\n');
    if (head === undefined) return;
    const step = take();
    const request = parseHead(head, connection);
    const act = async (): Promise<void> => {
      record(request);
      await step.act(request, socket);
    };
    if (step.at === 'headers') {
      await act();
    } else if (step.at === 'mid-body') {
      request.body = (await input.some()) ?? Buffer.alloc(0);
      await act();
    } else {
      await readBody(input, request);
      await act();
    }
    if (socket.destroyed || !request.complete) return;
  }
}

async function readBody(input: Input, request: Taken): Promise<void> {
  const parts: Buffer[] = [];
  const keep = (part: Buffer | undefined): boolean => {
    if (part !== undefined) parts.push(part);
    request.body = Buffer.concat(parts);
    return part !== undefined;
  };
  const length = request.header('content-length');
  if (length !== undefined) {
    request.complete = keep(await input.exactly(Number(length)));
  } else if (request.header('transfer-encoding') !== undefined) {
    for (;;) {
      const line = await input.until('\r\n');
      if (line === undefined) return;
      const size = Number.parseInt(line.toString('latin1'), 16);
      const chunk = size === 0 ? Buffer.alloc(0) : await input.exactly(size);
      if (!keep(chunk) || (await input.until('\r\n')) === undefined) return;
      if (size === 0) break;
    }
    request.complete = true;
  } else {
    request.complete = true;
  }
}

function parseHead(head: Buffer, connection: number): Taken {
  const [first = '', ...lines] = head.toString('latin1').split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers = lines
    .filter((line) => line !== '')
    .map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    });
  return { ...empty(connection), method, target, headers };
}

function empty(connection: number): Taken {
  return {
    method: '',
    target: '',
    headers: [],
    body: Buffer.alloc(0),
    complete: false,
    connection,
    header(name) {
      return this.headers.find(([n]) => n.toLowerCase() === name.toLowerCase())?.[1];
    },
  };
}

/** Pulls bytes from a socket; undefined where it ended first. */
class Input {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer[] = [];
  #size = 0;

  constructor(socket: Socket) {
    this.#chunks = socket.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async until(mark: string): Promise<Buffer | undefined> {
    for (;;) {
      const all = this.#joined();
      const at = all.indexOf(mark);
      if (at >= 0) return this.#cut(at + mark.length).subarray(0, at);
      if (!(await this.#more())) return undefined;
    }
  }

  async exactly(length: number): Promise<Buffer | undefined> {
    while (this.#size < length) if (!(await this.#more())) return undefined;
    return this.#cut(length);
  }

  async some(): Promise<Buffer | undefined> {
    if (this.#size === 0 && !(await this.#more())) return undefined;
    return this.#cut(this.#size);
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next().catch(() => ({ done: true as const, value: undefined }));
    if (next.done === true || next.value === undefined) return false;
    this.#rest.push(next.value);
    this.#size += next.value.byteLength;
    return true;
  }

  #joined(): Buffer {
    const all = this.#rest.length === 1 && this.#rest[0] !== undefined ? this.#rest[0] : Buffer.concat(this.#rest);
    this.#rest = [all];
    return all;
  }

  #cut(length: number): Buffer {
    const all = this.#joined();
    this.#rest = [all.subarray(length)];
    this.#size = all.byteLength - length;
    return all.subarray(0, length);
  }
}
