import type { RedisNode } from './command-port.js';
import { isForbidden } from './errors.js';

/** What endangers the guarantee, in the store's own settings. The code is stable; the text is for people. */
export interface StoreWarning {
  readonly code:
    | 'STORE_EVICTS' | 'STORE_NOT_PERSISTENT' | 'STORE_PERSISTENCE_UNKNOWN' | 'STORE_FSYNC_OFF' | 'STORE_SAVE_FAILING'
    | 'STORE_IS_REPLICA' | 'STORE_REPLICAS_MISSING' | 'STORE_CLOCK_SKEW' | 'STORE_NEARLY_FULL' | 'STORE_UNKNOWN';
  readonly text: string;
  /** The store may forget what it was told: `ledger.strict` refuses to work with it. */
  readonly mayForget: boolean;
}

export interface NodeState {
  readonly id: string;
  readonly version: string;
  readonly uptimeMs: number;
  readonly usedMemory: number;
  /** 0: no bound. */
  readonly maxMemory: number;
  /** Replicas connected now; undefined where INFO is forbidden. */
  readonly replicas: number | undefined;
  readonly warnings: readonly StoreWarning[];
}

/** Clocks of server and this machine further apart than this are worth a warning: leases do not mind, people do, ms. */
const SKEW = 60_000;

/** Asks one server about itself. INFO tells most; CONFIG is asked for the rest and may be forbidden. */
export async function inspectNode(node: RedisNode, waitReplicas: number, wallClock: number): Promise<NodeState> {
  const known = await infoOf(node, 'everything');
  const info = known ?? NOTHING;
  const name = node.id === '' ? 'Redis' : `Redis ${node.id}`;
  const warnings: StoreWarning[] = [];
  const warn = (code: StoreWarning['code'], mayForget: boolean, text: string): void => {
    warnings.push({ code, mayForget, text: `${name}: ${text}` });
  };
  if (known === undefined) warn('STORE_UNKNOWN', true, 'INFO is not allowed to our user, so nobody sees whether it may forget or is full; allow it (+info)');
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction') warn('STORE_EVICTS', true, `maxmemory-policy is ${policy}; set it to noeviction, or records vanish when memory is short`);
  if (known !== undefined) await persistence(node, info, warn);
  if (info.get('role') === 'slave') warn('STORE_IS_REPLICA', true, 'this is a replica; connect to the master');
  const replicas = Number(info.get('connected_slaves') ?? 0);
  if (known !== undefined && replicas < waitReplicas) warn('STORE_REPLICAS_MISSING', true, `${replicas} replicas are connected, waitReplicas wants ${waitReplicas}: no claim can be granted`);
  const [seconds, micros] = await node.send(['TIME']) as [unknown, unknown];
  const skew = Number(String(seconds)) * 1_000 + Number(String(micros)) / 1_000 - wallClock;
  if (Math.abs(skew) > SKEW) warn('STORE_CLOCK_SKEW', false, `its clock is ${Math.round(Math.abs(skew) / 1_000)} s ${skew > 0 ? 'ahead of' : 'behind'} this machine's`);
  const usedMemory = Number(info.get('used_memory') ?? 0);
  const maxMemory = Number(info.get('maxmemory') ?? 0);
  if (maxMemory > 0 && usedMemory > maxMemory * 0.9) warn('STORE_NEARLY_FULL', false, 'over 90 % of maxmemory is used: no new claims are taken');
  return {
    id: node.id, warnings, usedMemory, maxMemory,
    replicas: known === undefined ? undefined : replicas,
    version: info.get('redis_version') ?? '',
    uptimeMs: Number(info.get('uptime_in_seconds') ?? 0) * 1_000,
  };
}

async function persistence(
  node: RedisNode, info: ReadonlyMap<string, string>, warn: (code: StoreWarning['code'], mayForget: boolean, text: string) => void,
): Promise<void> {
  if (info.get('aof_last_write_status') === 'err') warn('STORE_SAVE_FAILING', true, 'it cannot write its append-only file; look at its disk');
  else if (info.get('rdb_last_bgsave_status') === 'err') warn('STORE_SAVE_FAILING', true, 'its last snapshot failed; look at its disk');
  if (info.get('aof_enabled') === '1') {
    if (await setting(node, 'appendfsync') === 'no') warn('STORE_FSYNC_OFF', true, 'appendfsync is no; set it to everysec or always');
    return;
  }
  const save = await setting(node, 'save');
  if (save === undefined) warn('STORE_PERSISTENCE_UNKNOWN', false, 'there is no append-only file, and CONFIG is not allowed: see that it keeps its data over a restart');
  else if (save === '') warn('STORE_NOT_PERSISTENT', true, 'it keeps nothing over a restart; set appendonly yes');
  else warn('STORE_NOT_PERSISTENT', true, 'it keeps snapshots only, and a restart forgets what came after the last; set appendonly yes');
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/** A section of INFO; undefined where it is forbidden. */
export async function infoOf(node: RedisNode, section: string): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    return fields(await node.send(['INFO', section]));
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** A setting; undefined where CONFIG is forbidden. */
async function setting(node: RedisNode, name: string): Promise<string | undefined> {
  try {
    // a list from RESP2, a map from RESP3
    const reply: unknown = await node.send(['CONFIG', 'GET', name]);
    const values = Array.isArray(reply) ? [...reply] : Object.entries(reply ?? {}).flat();
    return values.length < 2 ? '' : String(values[1]);
  } catch {
    return undefined;
  }
}

const fields = (text: unknown): ReadonlyMap<string, string> =>
  new Map([...String(text).matchAll(/^([\w-]+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));

/** This release needs what Redis 7.0 brought: scripts that may settle on a full server. */
export const oldVersion = (version: string): boolean => version !== '' && Number(version.split('.')[0]) < 7;
