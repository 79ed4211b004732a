import { freePorts } from './free-port.js';
import { startRedis, type RedisServer, type RedisSettings } from './redis-server.js';

export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly urls: readonly string[];
  /** Kills all nodes and removes their folders. */
  close(): Promise<void>;
}

const SLOTS = 16_384;

/** Three masters that share the 16,384 slots, on loopback; resolves when every node says `cluster_state:ok`. */
export async function startRedisCluster(settings: RedisSettings = {}): Promise<RedisCluster> {
  const busPorts = await freePorts(3);
  const nodes = await Promise.all(busPorts.map((bus) => startRedis({
    ...settings, 'cluster-enabled': 'yes', 'cluster-port': bus, 'cluster-node-timeout': 2_000, 'cluster-announce-ip': '127.0.0.1',
  })));
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  try {
    await Promise.all(nodes.map(async (node, i) => {
      const from = Math.ceil((SLOTS * i) / nodes.length);
      const to = Math.ceil((SLOTS * (i + 1)) / nodes.length) - 1;
      await node.command('CLUSTER', 'ADDSLOTSRANGE', from, to);
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    }));
    const [first, ...others] = nodes as [RedisServer, ...RedisServer[]];
    for (const [i, other] of others.entries()) {
      await first.command('CLUSTER', 'MEET', '127.0.0.1', other.port, busPorts[i + 1] as number);
    }
    await Promise.all(nodes.map((node) => agreed(node, nodes.length)));
  } catch (error) {
    await close();
    throw error;
  }
  return { nodes, urls: nodes.map((node) => node.url), close };
}

async function agreed(node: RedisServer, size: number): Promise<void> {
  const until = performance.now() + 30_000;
  for (;;) {
    const state = String(await node.command('CLUSTER', 'INFO'));
    if (state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${size}`)) return;
    if (performance.now() > until) throw new Error(`the Redis cluster did not form:\n${state}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
