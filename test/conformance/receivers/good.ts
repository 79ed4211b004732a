import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { PING } from '../../../conformance/as4/names.js';
import type { Identity } from '../../../conformance/keys.js';
import { readIncoming, Refusal } from './incoming.js';
import type { Incoming, ReadOptions } from './incoming.js';
import { errorReply, receiptReply, textReply } from './outgoing.js';
import type { Reply } from './outgoing.js';

export interface ReceiverOptions {
  readonly identity: Identity;
  /** Certificates (DER) of senders that are known. */
  readonly trusted: readonly Buffer[];
  readonly requireSignature: boolean;
  /** Where deliveries are posted. */
  backend: URL | undefined;
}

export interface Entry {
  readonly fingerprint: string;
  /** Undefined while the first copy is in work. */
  reply: Reply | undefined;
  /** Settles when the first copy is decided. */
  readonly decided: Promise<void>;
  /** When its window ends, by the receiver's clock. */
  readonly ends: number;
}

/**
 * A receiver that does everything right, small enough to be read in one sitting: it verifies before it remembers,
 * remembers before it answers, lets copies wait for the first, and answers them with the first one's bytes. Broken
 * receivers override one step each.
 */
export class GoodReceiver {
  readonly options: ReceiverOptions;
  /** Survives a restart, as a disk would. */
  readonly store = new Map<string, Entry>();
  storeUp = true;
  /** The receiver's clock, moved by the test. */
  now = 0;
  readonly window: number = 60_000;
  /** The same bytes read the same, so that a storm of copies costs one verification. */
  readonly #read = new Map<string, Incoming>();
  #servers: Server[] = [];

  constructor(options: ReceiverOptions) {
    this.options = options;
  }

  /** Opens one address; called again, a second one of the same cluster. */
  async listen(port = 0): Promise<URL> {
    const server = createServer((request, response) => void this.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.#servers.push(server);
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4`);
  }

  /** Closes every address and opens the same ones again. */
  async restart(): Promise<void> {
    const ports = this.#servers.map((server) => (server.address() as AddressInfo).port);
    await this.close();
    for (const port of ports) await this.listen(port);
  }

  async close(): Promise<void> {
    const servers = this.#servers.splice(0);
    await Promise.all(
      servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let reply: Reply;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const coded = request.headers['content-encoding'] === 'gzip';
      const body = Buffer.concat(chunks);
      reply =
        request.method === 'POST'
          ? await this.answer(coded ? gunzipSync(body) : body, request.headers['content-type'] ?? '')
          : textReply(405, 'POST only');
    } catch (error) {
      if (request.destroyed && !request.complete)
        return this.broken(Buffer.concat(chunks), request.headers['content-type'] ?? '');
      reply = textReply(500, String(error));
    }
    response.writeHead(reply.status, { 'content-type': reply.contentType, 'content-length': reply.body.length });
    response.end(reply.body);
  }

  async answer(body: Buffer, contentType: string): Promise<Reply> {
    let incoming: Incoming;
    try {
      const known = createHash('sha256').update(contentType).update(body).digest('hex');
      incoming = this.#read.get(known) ?? this.read(body, contentType);
      this.#read.set(known, incoming);
    } catch (error) {
      return this.refuse(error);
    }
    if (!this.reachable()) return textReply(503, 'come again');
    return await this.once(incoming);
  }

  /** Whether the store can be asked. */
  reachable(): boolean {
    return this.storeUp;
  }

  /** The transfer ended before the request did. */
  broken(_soFar: Buffer, _contentType: string): void {
    // nothing was claimed, so there is nothing to undo
  }

  refuse(error: unknown): Reply {
    if (!(error instanceof Refusal)) return textReply(400, String(error));
    return error.code === '415'
      ? textReply(415, error.message)
      : errorReply('1.2', error.code, error.messageId, error.message, this.options.identity);
  }

  read(body: Buffer, contentType: string): Incoming {
    return readIncoming(body, contentType, this.readOptions());
  }

  readOptions(): ReadOptions {
    const { identity, trusted, requireSignature } = this.options;
    return { key: identity.key, trusted, requireSignature };
  }

  /** Who the message is: its id within its sender. */
  keyOf(incoming: Incoming): string {
    return JSON.stringify([incoming.from, incoming.messageId]);
  }

  /** What may not change between copies. */
  fingerprintOf(incoming: Incoming): string {
    const digests = incoming.references
      .filter(({ uri }) => uri.startsWith('cid:'))
      .map(({ digest }) => digest)
      .toSorted();
    return digests.length > 0
      ? digests.join(' ')
      : incoming.payloads.map(({ content }) => content.toString('base64')).join(' ');
  }

  async once(incoming: Incoming): Promise<Reply> {
    const key = this.keyOf(incoming);
    for (;;) {
      const standing = this.store.get(key);
      if (standing === undefined || standing.ends <= this.now) return await this.first(incoming, key);
      await standing.decided;
      if (standing.reply === undefined) continue;
      if (standing.fingerprint !== this.fingerprintOf(incoming)) return this.mismatch(incoming, standing);
      return this.replay(incoming, standing.reply);
    }
  }

  mismatch(incoming: Incoming, _standing: Entry): Reply {
    return errorReply(
      incoming.soap,
      'EBMS:0003',
      incoming.messageId,
      'the id was used for other content',
      this.options.identity,
    );
  }

  replay(_incoming: Incoming, reply: Reply): Reply {
    return reply;
  }

  async first(incoming: Incoming, key: string): Promise<Reply> {
    let decide = (): void => undefined;
    const entry: Entry = {
      fingerprint: this.fingerprintOf(incoming),
      reply: undefined,
      ends: this.now + this.window,
      decided: new Promise<void>((resolve) => (decide = resolve)),
    };
    this.store.set(key, entry);
    try {
      await this.deliver(incoming);
      entry.reply = this.receipt(incoming);
      return entry.reply;
    } catch (error) {
      this.forget(key);
      return this.failed(incoming, error);
    } finally {
      decide();
    }
  }

  forget(key: string): void {
    this.store.delete(key);
  }

  failed(incoming: Incoming, error: unknown): Reply {
    return errorReply(incoming.soap, 'EBMS:0202', incoming.messageId, String(error), this.options.identity);
  }

  receipt(incoming: Incoming): Reply {
    return receiptReply(incoming, this.options.identity);
  }

  async deliver(incoming: Incoming): Promise<void> {
    if (incoming.service === PING.service) return;
    // one delivery for the whole message, as one unit
    await this.post(Buffer.concat(incoming.payloads.map(({ content }) => content)));
  }

  async post(content: Buffer): Promise<void> {
    if (this.options.backend === undefined) return;
    const response = await fetch(this.options.backend, { method: 'POST', body: new Uint8Array(content) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the backend answered ${response.status}`);
  }
}
