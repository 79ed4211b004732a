import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer, type Answer } from '../../conformance/as4/answer.js';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { sendRaw } from '../../conformance/wire/send.js';
import { memoryLedger } from '../../src/index.js';
import { systemClock } from '../../src/clock.js';
import { startCli } from '../support/child.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { honest, keyFiles, receiver, serveEndpoint, signedByUs } from './served.js';

const DAY = 86_400_000;
const tomorrow = makeIdentity('POP000002', { now: new Date(systemClock.now() + DAY) });
const yesterday = makeIdentity('POP000002', { now: new Date(systemClock.now() - 2 * DAY), days: 1 });
const short = makeIdentity('POP000002', { bits: 1_024 });

const signedBy = (answer: Answer, { certificate }: Identity): boolean => {
  signedByUs(answer);
  return answer.body.includes(certificate.raw.toString('base64'));
};

/**
 * A renewed certificate that was not valid yet, with its fitting key, was put in force while the server ran: what was
 * proven at start was only looked at for fitting each other then. Every message was claimed, failed with HTTP 500 and was
 * left to lapse, an uncertain attempt of a message that nobody had delivered.
 */
describe('a running endpoint whose own key is replaced by one that cannot sign Receipts', () => {
  let folder: TempDir;
  let child: OwnedProcess & { readonly ready: RegExpMatchArray | undefined };
  const put = (identity: Identity): void => {
    for (const [name, text] of [['own.crt', identity.certificatePem], ['own.key', identity.keyPem]] as const) {
      writeFileSync(join(folder.path, `${name}.new`), text);
      renameSync(join(folder.path, `${name}.new`), join(folder.path, name));
    }
  };
  const post = async (): Promise<Answer> => {
    const { body, contentType } = honest();
    return readAnswer(await sendRaw(new URL(child.ready?.[1] ?? ''), { contentType, body, answerMs: 20_000 }));
  };

  beforeEach(async () => {
    folder = tempDir('endpoint-renewal');
    keyFiles(folder.path);
    const file = join(folder.path, 'endpoint.yaml');
    writeFileSync(file, 'role: endpoint\nlisten: 127.0.0.1:0\nledger: { memory: true }\nsecurity: { trust: partners.pem }\n'
      + 'endpoint:\n  profile: peppol\n  backend: { directory: deliveries }\n  keys:\n    - certificate: own.crt\n      key: own.key\n');
    child = await startCli(['serve', '--config', file], { ready: /as4-once listens on (\S+)/ });
  });
  afterEach(async () => {
    await child.stop();
    folder.remove();
  });

  it('goes on with the old one, says why, and takes up one that can', async () => {
    expect(signedBy(await post(), receiver)).toBe(true);
    put(tomorrow);
    await child.waitFor(/"event":"renewed","error":"[^"]*endpoint\.yaml:9:20 endpoint\.keys\[0\]\.certificate: [^"]*cannot sign Receipts: CN=pop000002 is valid from [^"]*","msg":"replaced files cannot be used, the old ones stay in force"/);
    expect(signedBy(await post(), receiver)).toBe(true);

    put(short);
    process.kill(child.pid, 'SIGHUP');
    await child.waitFor(/"event":"reload"[^\n]*cannot sign Receipts[^\n]*configuration refused, the old one stays in force/);
    expect(signedBy(await post(), receiver)).toBe(true);

    const next = makeIdentity('POP000002');
    put(next);
    process.kill(child.pid, 'SIGHUP');
    await child.waitFor(/"msg":"configuration reloaded"/);
    const { body, contentType } = honest({ receiver: next.certificate });
    const answer = readAnswer(await sendRaw(new URL(child.ready?.[1] ?? ''), { contentType, body, answerMs: 20_000 }));
    expect(signedBy(answer, next)).toBe(true);
  });
});

describe('an endpoint in a program of others, which nobody checked before', () => {
  it.each([['not valid yet', tomorrow], ['expired', yesterday], ['too short', short]] as const)('claims nothing while its certificate is %s', async (_, own) => {
    const ledger = memoryLedger({ clock: systemClock });
    const served = await serveEndpoint({ own, ledger });
    const message = honest({ receiver: own.certificate });
    const answer = await served.post(message);
    expect(answer.status).toBe(503);
    expect(answer.body.toString()).toBe('SIGNER_UNFIT: try again later.\n');
    expect(served.exchanges).toMatchObject([{ answer: 'refused', code: 'SIGNER_UNFIT', detail: expect.stringContaining('cannot sign Receipts') as string }]);
    expect((await ledger.stats()).records).toBe(0);
    expect((await served.once.load()).spool).toEqual({ memoryBytes: 0, diskBytes: 0 });
    await served.close();
  });
});
