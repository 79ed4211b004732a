import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { draftFor } from '../run/draft.js';
import { loadTarget } from '../target/load.js';
import type { Target } from '../target/target.js';
import { sendRaw } from '../wire/send.js';
import { buildPhase4, Phase4, phase4Missing } from './phase4.js';
import type { Peer } from './scene.js';

/** Where the harness is built; shared by all scenes with phase4 in them. */
export const harness = (work: string): string => join(work, '../phase4-build');

/** The fields of a target file that every scene with phase4 behind it has in common. */
export function phase4Fields(phase4: Phase4): string {
  const pki = join(phase4.home, 'pki');
  return `profile: peppol
parties: { from: { id: POP000001 }, to: { id: POP000002 } }
keys:
  sign: { key: ${pki}/ap-a.key.pem, cert: ${pki}/ap-a.crt.pem }
  encryptFor: ${pki}/ap-b.crt.pem
  receiptSigner: ${pki}/ap-b.crt.pem
delivery: { folder: ${phase4.deliveries} }
accepts: { unsigned: false, compressed: true, largest: 5MB }
times: { answer: 60s, deliver: 15s, quiet: 1s, slow: 3s, requirement: 10m }
`;
}

/** The first messages of a fresh JVM take seconds; they are sent before anybody measures. Delivered like any other. */
export async function warm(phase4: Phase4, target: Target): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const { contentType, body } = draftFor(target).build();
    await sendRaw(new URL(phase4.url), { contentType, body, answerMs: target.times.answer });
  }
}

/** phase4 by itself, from published artifacts: with its ids in memory (its default), or on disk. */
export function phase4Peer(persistent: boolean): Peer {
  return {
    name: persistent ? 'phase4-ids-on-disk' : 'phase4',
    missing: ({ shared }) => phase4Missing(shared),
    async start({ shared, work }) {
      await buildPhase4(shared, harness(work));
      const phase4 = await Phase4.start(harness(work), work, persistent);
      const file = join(work, 'target.yaml');
      writeFileSync(
        file,
        `name: phase4${persistent ? ', ids on disk' : ''}
version: "4.4.1"
notes: >-
  Peppol profile, duplicate window 10 minutes (its default), ids ${persistent ? 'in files' : 'in memory (its default)'};
  phase4-lib and phase4-profile-peppol in an embedded Jetty, with a small handler of the harness as the backend.
url: ${phase4.url}
${phase4Fields(phase4)}`,
      );
      const then = async (start: Promise<void>): Promise<void> => {
        await start;
        await warm(phase4, target);
      };
      const target = loadTarget(file, {
        hooks: {
          restart: () => then(phase4.restart('restart')),
          kill: () => then(phase4.restart('kill')),
          backendSlow: (ms = 0) => then(phase4.with('--slow', String(ms))),
          backendNormal: () => then(phase4.with()),
          // with ids in memory the restart that ends the refusals would also wipe out what is to be seen
          ...(persistent ? { backendFail: () => then(phase4.with('--fail-always')) } : {}),
        },
      });
      await warm(phase4, target);
      return { target, stop: () => phase4.stop() };
    },
  };
}
