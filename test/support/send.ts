import { Agent, request, type IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves: the socket is destroyed and the promise rejects. */
  readonly signal?: AbortSignal;
  /** One socket for several messages; without it each has its own. */
  readonly agent?: Agent;
}

/** Sends one message with node:http, nothing retried, nothing decoded; resolves when the answer is complete. */
export function send(
  url: string | URL, message: { readonly body: Uint8Array; readonly headers?: Readonly<Record<string, string>> }, options: SendOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: options.method ?? 'POST',
      headers: { ...message.headers, 'content-length': String(message.body.length), ...options.headers },
      agent: options.agent ?? false,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.once('error', reject);
      incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }));
    });
    outgoing.once('error', reject);
    outgoing.end(message.body);
  });
}
