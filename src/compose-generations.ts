import { routeAt, type Generation, type MountedRoute } from './compose-routes.js';
import type { Delivery } from './delivery/port.js';
import type { Route } from './walk.js';

/**
 * The configurations that exchanges still came by. A reload puts a new one in force; the old one's connections end when
 * the last exchange and the last attempt that belong to it have ended.
 */
export class Generations {
  readonly #of = new Map<Route, Generation>();
  readonly #ends = new Map<Generation, { readonly ended: Promise<void>; readonly end: () => void }>();
  #current: Generation;

  constructor(first: Generation) {
    this.#current = this.#adopt(first);
  }

  route(path: string): Route | undefined {
    return routeAt(this.#current, path);
  }

  /** Notes that an exchange uses the route; returns the way out. */
  enter(route: Route): () => void {
    const of = this.#of.get(route);
    return of === undefined ? () => undefined : this.#busy(of);
  }

  /** Puts `next` in force. Resolves when the last exchange that came by an earlier configuration has ended. */
  async replace(next: Generation): Promise<void> {
    const before = this.#current;
    const earlier = [...this.#ends.values()].map(({ ended }) => ended);
    this.#current = this.#adopt(next);
    if (before.active === 0) void this.#retire(before);
    await Promise.all(earlier);
  }

  async close(): Promise<void> {
    await Promise.all([...new Set([this.#current, ...this.#of.values()])].map((one) => this.#retire(one)));
  }

  #adopt(made: Generation): Generation {
    const counted: Generation = { ...made, routes: made.routes.map((mounted) => this.#counted(mounted, () => counted)) };
    for (const { route } of counted.routes) this.#of.set(route, counted);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#ends.set(counted, { ended, end });
    return counted;
  }

  /** An attempt may go on after its exchange was answered (504), and needs its connections until it has ended. */
  #counted(mounted: MountedRoute, of: () => Generation): MountedRoute {
    const { delivery } = mounted.route;
    const attempt: Delivery['attempt'] = async (attempted) => {
      const done = this.#busy(of());
      try {
        return await delivery.attempt(attempted);
      } finally {
        done();
      }
    };
    return { ...mounted, route: { ...mounted.route, delivery: { attempt } } };
  }

  #busy(of: Generation): () => void {
    of.active += 1;
    return () => {
      of.active -= 1;
      if (of.active === 0 && of !== this.#current) void this.#retire(of);
    };
  }

  async #retire(old: Generation): Promise<void> {
    for (const { route } of old.routes) this.#of.delete(route);
    this.#ends.get(old)?.end();
    this.#ends.delete(old);
    await Promise.all(old.upstreams.map((upstream) => upstream.close()));
  }
}
