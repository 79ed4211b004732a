import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';

/** Which proxies may say whom they speak for: everybody, so many nearest hops, or addresses and CIDR ranges. */
export type TrustProxy = boolean | number | readonly string[];

/** The peer of a request: the socket's, or the nearest address in X-Forwarded-For that no trusted proxy wrote. */
export function peerReader(trust: TrustProxy): (request: IncomingMessage) => string {
  const trusted =
    typeof trust === 'boolean' ? () => trust
    : typeof trust === 'number' ? (_address: string, hop: number) => hop < trust
    : listed(trust);
  return (request) => {
    let peer = plainAddress(request.socket.remoteAddress ?? '');
    const field = request.headers['x-forwarded-for'];
    const hops = (Array.isArray(field) ? field.join(',') : (field ?? '')).split(',').map((hop) => hop.trim());
    for (let nearest = 0; trusted(peer, nearest); nearest += 1) {
      const hop = hops.pop();
      if (hop === undefined || isIP(plainAddress(hop)) === 0) return peer;
      peer = plainAddress(hop);
    }
    return peer;
  };
}

function listed(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
