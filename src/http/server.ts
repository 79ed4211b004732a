import { once } from 'node:events';
import { createServer as plainServer, type RequestListener, type Server } from 'node:http';
import { createServer as tlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';

export interface Listen {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Request headers must be complete within, ms. */
  readonly headersMs: number;
  /** Longer than any proxy in front keeps a connection, so that it is never we who close under its request, ms. */
  readonly keepAliveMs: number;
  readonly tls?: SecureContextOptions & { readonly requestCert?: boolean };
}

export interface Listening {
  readonly url: string;
  readonly server: Server | TlsServer;
  /** Takes new certificates without dropping a connection. */
  renewTls(context: SecureContextOptions): void;
  /** Takes no new connection and waits for those with a request in progress; cuts what is left after graceMs. */
  close(graceMs: number): Promise<void>;
}

/** Header fields one request may have; more is a fault or an attack. */
const HEADER_BYTES = 32 * 1024;

/** Connections that may wait to be accepted: a storm of copies must not meet a reset. The system's own bound holds too. */
const BACKLOG = 4_096;

/** A listening server with the bounds that a public door needs. Bodies have their own pace (http/body.ts). */
export async function listen(handler: RequestListener, options: Listen, clock: Clock): Promise<Listening> {
  const settings = {
    requestTimeout: 0,
    headersTimeout: options.headersMs,
    connectionsCheckingInterval: Math.min(options.headersMs, 5_000),
    keepAliveTimeout: options.keepAliveMs,
    maxHeaderSize: HEADER_BYTES,
    // strict reading of lengths: a request that two readers could cut differently is refused by the parser
    insecureHTTPParser: false,
  };
  const server = options.tls === undefined ? plainServer(settings, handler) : tlsServer({ ...settings, ...options.tls }, handler);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseSocket(error, socket));
  server.listen({ port: options.port, host: options.host, backlog: BACKLOG });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new As4OnceError('LISTEN_FAILED', `${options.host}:${options.port} (${error.code ?? error.message})`, { cause: error });
  });
  const { port } = server.address() as AddressInfo;
  const shown = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    server,
    url: `${options.tls === undefined ? 'http' : 'https'}://${shown}:${port}`,
    renewTls: (context) => {
      if ('setSecureContext' in server) server.setSecureContext(context);
    },
    close: (graceMs) => close(server, graceMs, clock),
  };
}

async function close(server: Server | TlsServer, graceMs: number, clock: Clock): Promise<void> {
  const closed = once(server, 'close').then(() => true);
  server.close();
  server.closeIdleConnections();
  const timer = new AbortController();
  const inTime = await Promise.race([closed, clock.sleep(graceMs, timer.signal).then(() => false)]);
  timer.abort();
  if (inTime) return;
  server.closeAllConnections();
  await closed;
}

/** What cannot be parsed as HTTP has no exchange; it gets the status its fault deserves and nothing is recorded. */
function refuseSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large'
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout'
    : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}
