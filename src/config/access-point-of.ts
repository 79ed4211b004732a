import { accessPoint, type AccessPoint } from '../delivery/access-points.js';
import type { RouteConfig } from './config.js';

/** What stands behind a route: the preset it names, with what the file says otherwise of it. */
export function accessPointOf({ accessPoint: name = 'other', upstream = { url: '' } }: RouteConfig): AccessPoint {
  const { remembers, persistent, notReached } = upstream;
  return accessPoint(name, {
    ...(remembers === undefined ? {} : { remembersMs: remembers }),
    ...(persistent === undefined ? {} : { persistent }),
    ...(notReached === undefined ? {} : { notReached }),
  });
}

/**
 * How long the far side recognises a second copy itself, ms, and whether that survives its restart. A backend that can
 * stand in a file (directory, http) takes the same message under the same name as often as it comes.
 */
export function memoryOf(route: RouteConfig): Pick<AccessPoint, 'remembersMs' | 'persistent'> {
  if (route.upstream === undefined && route.backend !== undefined) return { remembersMs: Number.MAX_SAFE_INTEGER, persistent: true };
  return accessPointOf(route);
}
