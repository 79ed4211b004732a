import type { X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAnswer, type Answer } from '../../conformance/as4/answer.js';
import { verifyEnvelope } from '../../conformance/as4/verify.js';
import type { Identity } from '../../conformance/keys.js';
import { sendRaw } from '../../conformance/wire/send.js';
import { createEndpoint, Events, memoryLedger, type ExchangeEvent, type MessageHandler, type Once } from '../../src/index.js';
import type { EndpointOptions } from '../../src/index.js';
import { systemClock } from '../../src/clock.js';
import { as4Message, type MessageChoices, type TestMessage } from '../support/messages.js';
import { tempDir } from '../support/temp-dir.js';
import { neighbour, receiver, sender, stranger } from './identities.js';

export { neighbour, receiver, sender, stranger };

/** The endpoint's keys and trust as files. */
export function keyFiles(folder: string, own: Identity = receiver): { readonly certificate: string; readonly key: string; readonly trust: string } {
  const files = { certificate: join(folder, 'own.crt'), key: join(folder, 'own.key'), trust: join(folder, 'partners.pem') };
  writeFileSync(files.certificate, own.certificate.toString());
  writeFileSync(files.key, own.keyPem);
  writeFileSync(files.trust, sender.certificate.toString() + neighbour.certificate.toString());
  return files;
}

/** Signed, encrypted and compressed, as Peppol sends. */
export const honest = (choices: MessageChoices = {}): TestMessage =>
  as4Message({ signer: sender, receiver: receiver.certificate, compress: true, ...choices });

export interface Served {
  readonly url: URL;
  readonly once: Once;
  readonly exchanges: readonly ExchangeEvent[];
  /** The folder of `endpoint.backend.directory`. */
  readonly deliveries: string;
  post(message: { readonly body: Buffer; readonly contentType: string }): Promise<Answer>;
  close(): Promise<void>;
}

export type Changes = Partial<Omit<EndpointOptions, 'endpoint' | 'security'>> & {
  readonly endpoint?: Partial<NonNullable<EndpointOptions['endpoint']>>;
  readonly security?: EndpointOptions['security'];
  /** Trusted beside sender and neighbour. */
  readonly trusted?: readonly X509Certificate[];
  /** In place of `receiver`. */
  readonly own?: Identity;
};

export async function serveEndpoint({ endpoint = {}, security = {}, trusted = [], own, ...changes }: Changes = {}, handler?: MessageHandler): Promise<Served> {
  const folder = tempDir('endpoint');
  const { certificate, key, trust } = keyFiles(folder.path, own);
  writeFileSync(trust, trusted.map(String).join(''), { flag: 'a' });
  const deliveries = join(folder.path, 'deliveries');
  const events = new Events();
  const exchanges: ExchangeEvent[] = [];
  events.on('exchange', (event) => exchanges.push(event));
  const once = createEndpoint({
    ledger: memoryLedger({ clock: systemClock }), events,
    spool: join(folder.path, 'spool'), journal: join(folder.path, 'journal'), state: join(folder.path, 'state'),
    security: { trust, ...security },
    endpoint: { profile: 'peppol', keys: { certificate, key }, ...(handler === undefined ? { backend: { directory: deliveries } } : {}), ...endpoint },
    ...(handler === undefined ? {} : { handler }),
    ...changes,
  });
  const server: Server = createServer((request, response) => once.handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return {
    url, once, exchanges, deliveries,
    post: async ({ body, contentType }) => readAnswer(await sendRaw(url, { contentType, body, answerMs: 20_000 })),
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await once.close({ graceMs: 1_000 });
      folder.remove();
    },
  };
}

/** Throws unless the endpoint's own key signed the answer, as a reader without our code sees it. */
export function signedByUs(answer: Answer): void {
  verifyEnvelope(answer.envelope ?? Buffer.alloc(0));
}
