import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeIdentity } from '../keys.js';
import type { Identity } from '../keys.js';
import { loadTarget } from '../target/load.js';
import { as4OnceMissing, as4OnceVersion, startCluster } from './as4-once.js';
import { freePort } from './process.js';
import type { Peer } from './scene.js';

/** as4-once as the access point itself: two processes on one Redis, with the suite as the backend. */
export const endpointPeer: Peer = {
  name: 'as4-once-endpoint',
  missing: async (where) => as4OnceMissing(where),
  async start(where) {
    const authority = makeIdentity('conformance authority');
    const pem = (name: string, identity: Identity): void => {
      writeFileSync(join(where.work, `${name}.key.pem`), identity.keyPem, { mode: 0o600 });
      writeFileSync(join(where.work, `${name}.crt.pem`), identity.certificatePem);
    };
    pem('authority', authority);
    for (const name of ['sender', 'other', 'receiver']) pem(name, makeIdentity(name, { issuer: authority }));
    const backend = `127.0.0.1:${await freePort()}`;
    const cluster = await startCluster(
      where,
      (listen, redis) => `role: endpoint
listen: ${listen}
ledger: { redis: "${redis}" }
defaults: { window: 15s }
times: { lease: 1s, wait: 3s, answerBy: 5s, patience: 7s, ledgerOutage: 500ms }
security: { trust: [authority.crt.pem] }
endpoint:
  profile: edelivery
  keys: { certificate: receiver.crt.pem, key: receiver.key.pem }
  backend: { http: "http://${backend}/" }
`,
    );
    const file = join(where.work, 'target.yaml');
    writeFileSync(
      file,
      `name: as4-once endpoint
version: "${as4OnceVersion(where)}"
notes: two processes on one Redis, profile edelivery, window 15 s, patience 7 s, backend http.
url: ${cluster.urls[0]}
urls: [${cluster.urls[1]}]
profile: edelivery
parties: { from: { id: sender }, to: { id: receiver } }
keys:
  sign: { key: sender.key.pem, cert: sender.crt.pem }
  otherSender: { party: other, key: other.key.pem, cert: other.crt.pem }
  encryptFor: receiver.crt.pem
  receiptSigner: receiver.crt.pem
delivery: { http: { listen: "${backend}", refuse: 422 } }
accepts:
  { unsigned: false, ping: true, bare: true, uncompressed: true, payloads: true, compressed: true, largest: 20MB }
times: { answer: 30s, deliver: 10s, quiet: 1s, slow: 1500ms }
claims:
  duplicate: identical
  window: 15s
  afterWindow: deliver
  mismatch: refuse
  otherSender: deliver
  inFlight: wait-or-retry
  failedRetry: deliver
  forgedFirst: harmless
  startElsewhere: refuse
  contentEncoding: accept
  storeDown: retryable
`,
    );
    const target = loadTarget(file, { hooks: cluster.hooks });
    return { target, stop: () => cluster.stop() };
  },
};
