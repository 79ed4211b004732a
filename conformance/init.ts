import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXIT, Usage } from './exit.js';
import type { Output } from './exit.js';
import { makeIdentity } from './keys.js';
import { PROFILES } from './profile.js';
import type { ProfileName } from './profile.js';

export const INIT_USAGE = `as4-once-conformance init [FILE] [--profile NAME] [--from ID] [--to ID] [--url URL]
  Writes a commented target file (target.yaml) and, beside it, test keys for the two senders of the suite.
`;

/** The `init` command. Writes nothing over what is there. */
export async function initCommand(args: string[], out: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { profile: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' }, url: { type: 'string' } },
    allowPositionals: true,
  });
  const profile = (values.profile ?? 'edelivery') as ProfileName;
  if (!PROFILES.includes(profile)) throw new Usage(`--profile is one of ${PROFILES.join(', ')}`, INIT_USAGE);
  const file = positionals[0] ?? 'target.yaml';
  if (existsSync(file)) throw new Usage(`${file} is there already`);
  const peppol = profile === 'peppol';
  const from = values.from ?? (peppol ? 'POP000001' : 'conformance-sender');
  const other = peppol ? 'POP000003' : 'conformance-other';
  const keys = join(dirname(file), 'conformance-keys');
  mkdirSync(keys, { recursive: true });
  for (const [name, party] of [
    ['sender', from],
    ['other', other],
  ] as const) {
    if (existsSync(join(keys, `${name}.key.pem`))) continue;
    const identity = makeIdentity(party);
    writeFileSync(join(keys, `${name}.key.pem`), identity.keyPem, { mode: 0o600 });
    writeFileSync(join(keys, `${name}.crt.pem`), identity.certificatePem);
  }
  writeFileSync(
    file,
    template(
      profile,
      from,
      values.to ?? (peppol ? 'POP000002' : 'receiver'),
      other,
      values.url ?? 'http://127.0.0.1:8080/as4',
    ),
  );
  out.write(
    `wrote ${file} and test keys in ${keys}\nnext: let the target trust the two certificates, edit the file, ` +
    `then\n  as4-once-conformance run --target ${file}\n`,
  );
  return EXIT.ok;
}

function template(profile: ProfileName, from: string, to: string, other: string, url: string): string {
  return `# The access point to be judged. What is not declared here is skipped, not failed.
name: my access point              # as the report shall name it
version: "1.0"
# notes: how it was configured
url: ${url}
# urls: [http://127.0.0.1:8081/as4]  # further addresses of the same cluster

profile: ${profile}                  # ${PROFILES.join(' | ')}
parties:
  from: { id: ${from} }
  to: { id: ${to} }
# service: …   serviceType: …   action: …   agreement: …   properties: [{ name: …, value: … }]

keys:                               # paths are relative to this file
  sign: { key: conformance-keys/sender.key.pem, cert: conformance-keys/sender.crt.pem }
  otherSender: { party: ${other}, key: conformance-keys/other.key.pem, cert: conformance-keys/other.crt.pem }
  # encryptFor: receiver.crt.pem    # certificate for which payloads are encrypted
  # receiptSigner: receiver.crt.pem # certificate that signs Receipts

delivery:                           # how deliveries are counted; every payload carries a token of its own
  folder: ./delivered               # files in a folder; they must stay there during the run
  # http: { listen: 127.0.0.1:9100 }  # or the suite as the backend: it can then refuse and be slow, too
  # command: [./list-deliveries.sh]   # or a program that prints one line a delivery, with its token in it

hooks: {}                           # programs with arguments, no shell
  # restart: [systemctl, restart, as4]
  # kill: [./kill-and-start.sh]       # SIGKILL, then start
  # backendFail: […]  backendSlow: […]  backendNormal: […]   # where the backend is not the suite itself
  # storeDown: […]  storeUp: […]
  # clock: [./forward.sh]             # gets the milliseconds to move the target's clock forward

times: {}                           # answer: 60s  deliver: 10s  quiet: 2s  slow: 3s  hook: 60s  ready: 60s

accepts:                            # what the target is able to take
  unsigned: false                   # false: unsigned messages must be refused
  ping: true                        # test messages are recognised and not delivered
  soap11: false
  bare: true                        # SOAP without MIME and without payload
  uncompressed: true
  payloads: true                    # several payloads
  compressed: true                  # reads gzip itself (an access point does, a proxy does not)
  largest: 5MB

claims: {}                          # behaviour on which the standards are silent; claimed, it is judged
  # duplicate: identical            # identical: the first answer's bytes | receipt: any Receipt
  # window: 10s                     # with afterWindow: deliver
  # mismatch: refuse                # other content under a known id
  # otherSender: deliver            # deliver | refuse
  # inFlight: wait-or-retry         # a copy while the first is in work
  # failedRetry: deliver            # a retry after a failed delivery
  # forgedFirst: harmless           # a forged copy first does not block the genuine one
  # startElsewhere: refuse          # refuse | honour
  # contentEncoding: accept
  # storeDown: retryable
`;
}
