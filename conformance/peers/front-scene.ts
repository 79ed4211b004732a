import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTarget } from '../target/load.js';
import { as4OnceMissing, as4OnceVersion, startCluster } from './as4-once.js';
import { harness, phase4Fields, warm } from './phase4-scene.js';
import { buildPhase4, Phase4, phase4Missing } from './phase4.js';
import type { Peer } from './scene.js';

/** as4-once as a front, two processes on one Redis, before phase4 that keeps its ids on disk. */
export const frontPeer: Peer = {
  name: 'as4-once-front-phase4',
  missing: async (where) => as4OnceMissing(where) ?? (await phase4Missing(where.shared)),
  async start(where) {
    await buildPhase4(where.shared, harness(where.work));
    const phase4 = await Phase4.start(harness(where.work), where.work, true);
    const cluster = await startCluster(
      where,
      (listen, redis) => `role: front
listen: ${listen}
upstream: ${phase4.url}
accessPoint: phase4
ledger: { redis: "${redis}" }
defaults: { window: 90d, verify: signature, unsigned: refuse }
security: { trust: [${join(phase4.home, 'pki/ca.crt.pem')}] }
times: { lease: 2s, wait: 20s, answerBy: 50s, patience: 55s, ledgerOutage: 1s, upstreamOutage: 20s }
`,
    );
    const file = join(where.work, 'target.yaml');
    writeFileSync(
      file,
      `name: as4-once front before phase4
version: "${as4OnceVersion(where)}, phase4 4.4.1"
notes: >-
  two as4-once processes on one Redis before phase4 4.4.1 with its ids on disk;
  verify signature, unsigned messages refused, window 90d.
url: ${cluster.urls[0]}
urls: [${cluster.urls[1]}]
claims:
  duplicate: identical
  window: 90d
  mismatch: refuse
  otherSender: deliver
  inFlight: wait-or-retry
  forgedFirst: harmless
  startElsewhere: refuse
  storeDown: retryable
${phase4Fields(phase4)}`,
    );
    const backend = async (...args: string[]): Promise<void> => {
      await phase4.with(...args);
      await warm(phase4, target);
    };
    const target = loadTarget(file, {
      hooks: {
        ...cluster.hooks,
        backendFail: () => backend('--fail-always'),
        backendSlow: (ms = 0) => backend('--slow', String(ms)),
        backendNormal: () => backend(),
      },
    });
    await warm(phase4, target);
    return {
      target,
      stop: async () => {
        await cluster.stop();
        await phase4.stop();
      },
    };
  },
};
