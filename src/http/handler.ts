import type { IncomingMessage, ServerResponse } from 'node:http';
import { As4OnceError } from '../errors.js';
import { plain, type Exchange, type HeaderList, type Reply } from '../exchange.js';
import { receive } from '../receive.js';
import type { Route, Walk } from '../walk.js';
import { drain, readBody, type BodyPace } from './body.js';
import { plainAddress } from './peer.js';
import { respond } from './respond.js';

/** Mounts in Express 4 and 5, Fastify's middleware or plain node:http. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void;

export interface Door {
  /** The routes in force now; a reload swaps them, an exchange keeps the one it came by. */
  route(path: string): Route | undefined;
  /** Notes that an exchange uses the route, so that a reload does not take its connections away; returns the way out. */
  enter(route: Route): () => void;
  readonly walk: Walk;
  readonly pace: BodyPace;
  peer(request: IncomingMessage): string;
}

/** The HTTP door: a request becomes an Exchange, the walk's Reply becomes the response. */
export function httpHandler(door: Door): Handler {
  return (request, response, next) => {
    const route = door.route(pathOf(request.url));
    if (route === undefined && next !== undefined) {
      next();
      return;
    }
    answer(door, route, request, response).catch((error: unknown) => {
      // Nothing an answer holds may end the process with everything else that is in flight.
      door.walk.events.emit('fault', { code: 'INTERNAL', detail: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      response.destroy();
    });
  };
}

async function answer(door: Door, route: Route | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Without a listener a broken connection would end the process; the walk learns of it by reading.
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  const { clock, limits } = door.walk;
  const leave = route === undefined ? undefined : door.enter(route);
  let reply: Reply;
  try {
    reply = route === undefined ? plain(404, 'No route.\n') : await walkOrPass(door, route, request);
  } catch (error) {
    reply = doorRefusal(door, error);
  }
  try {
    await respond(response, reply);
    // Closing while a sender still sends makes Apache HttpClient lose the answer (measured), so the rest is read away.
    await drain(request, clock, door.pace, limits.drain);
  } finally {
    leave?.();
  }
}

async function walkOrPass(door: Door, route: Route, request: IncomingMessage): Promise<Reply> {
  const exchange = toExchange(door, request);
  if (route.methods.has(exchange.method)) return await receive(exchange, route, door.walk);
  return await route.pass(exchange);
}

function toExchange(door: Door, request: IncomingMessage): Exchange {
  const headers = headerList(request);
  if (request.readableEnded || request.readableDidRead || (request as { body?: unknown }).body !== undefined) {
    throw new As4OnceError('BODY_CONSUMED', 'another handler has read the request body');
  }
  const lengths = headers.filter(([name]) => name.toLowerCase() === 'content-length');
  const coded = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  if (lengths.length > 1 || (lengths.length === 1 && coded)) throw new As4OnceError('LENGTH_AMBIGUOUS', 'two ways to find the end of the body');
  const length = lengths[0] === undefined ? undefined : Number(lengths[0][1]);
  return {
    method: request.method ?? '',
    target: request.url ?? '/',
    headers,
    peer: door.peer(request),
    via: plainAddress(request.socket.remoteAddress ?? ''),
    body: readBody(request, door.walk.clock, door.pace),
    ...(length === undefined ? {} : { length }),
  };
}

/** As the client wrote them: order, spelling, repeats. */
function headerList(request: IncomingMessage): HeaderList {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) list.push([request.rawHeaders[i] ?? '', request.rawHeaders[i + 1] ?? '']);
  return list;
}

function doorRefusal(door: Door, error: unknown): Reply {
  const known = error instanceof As4OnceError ? error : new As4OnceError('INTERNAL', String(error));
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  door.walk.events.emit('fault', { code: known.code, detail: known.code === 'INTERNAL' ? detail : known.detail });
  return plain(known.entry.status, `${known.code}: ${known.detail}\n`);
}

function pathOf(url: string | undefined): string {
  const path = url ?? '/';
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}
