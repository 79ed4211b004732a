import type { ProfileName } from '../security/profiles.js';
import { ledgerPart, OPERATORS_PART } from './template-parts.js';

export interface EndpointChoices {
  readonly profile: ProfileName;
  readonly listen: string;
  /** A folder, or an http(s) URL. */
  readonly backend: string;
  readonly redis?: string;
  /** Whose certificates are believed, and our own key: as the file shall name them. */
  readonly files: { readonly certificate: string; readonly key: string; readonly trust: string };
  /** They were made for trying out. */
  readonly testKeys: boolean;
  /** Where the JSON Schema of the file lies, for editors. */
  readonly schema: string;
}

/** What a profile asks of a message, for whoever reads the file. docs/endpoint.md has it as a table. */
const DEMANDS: Readonly<Record<ProfileName, readonly string[]>> = {
  peppol: [
    'peppol: signed and encrypted, the CN of the signing certificate is the From PartyId, one payload as an attachment,',
    'originalSender and finalRecipient, the AgreementRef and PartyId type of Peppol, no RefToMessageId.',
  ],
  edelivery: [
    'edelivery: signed, and every payload encrypted. Whom the trust anchors let in may write any From (commonName below).',
  ],
  custom: [
    'custom: begins as edelivery; security: { signature: optional, encryption: optional } asks for less.',
  ],
};

/** A configuration of role endpoint to begin with: every line says what it is for, and it loads as it stands. */
export function endpointTemplate({ profile, listen, backend, redis, files, testKeys, schema }: EndpointChoices): string {
  const posted = /^https?:/.test(backend);
  return `# yaml-language-server: $schema=${schema}
# as4-once as the access point itself. Made by: as4-once init --role endpoint --profile ${profile}
# Check it:  as4-once check --config FILE      Run it:  as4-once serve --config FILE
# Every key is explained in the schema above, which editors read; docs/endpoint.md tells the whole.

role: endpoint

# Where partners' messages arrive, whatever the path. Most listeners stand behind a reverse proxy that ends TLS.
listen: ${listen}

endpoint:
  # Which rules a message must keep; also: ${Object.keys(DEMANDS).filter((name) => name !== profile).join(', ')}.
${DEMANDS[profile].map((line) => `  # ${line}\n`).join('')}  profile: ${profile}
  # Our own certificate and RSA key, PEM. They sign Receipts and decrypt messages; replaced files are read again by themselves.${testKeys ? '\n  # These are test keys: anybody can make such. Get real ones before a partner is let in.' : ''}
  keys:
    - certificate: ${JSON.stringify(files.certificate)}
      key: ${JSON.stringify(files.key)}
      # passphraseFile: keys/passphrase
    # While a certificate is renewed with a new key, list both; the last one signs, all of them decrypt.
    # - { certificate: keys/endpoint-2027.pem, key: keys/endpoint-2027.key }
  # partyId: POP000321               # our own PartyId; a message To anybody else is refused (EBMS:0010)
  # receivers: ["9915:b"]            # final recipients that are served; another one is refused (EBMS:0004). Default: all
  # onlyPartners: true               # refuse senders that no partner below matches. Default false
  # maxPayload: 1 GiB                # largest payload after decompression
  # Where payloads go: a folder for each message, complete from the moment it has its name; or a URL that they are posted
  # to, with an Idempotency-Key by which the application knows a repetition.
  backend:
${
  posted
    ? `    http:
      url: ${JSON.stringify(backend)}
      # tokenFile: keys/backend-token  # sent as Authorization: Bearer
      # timeout: 60s                   # how long an answer is awaited. Default times.patience (10 min)
    # directory: ./deliveries`
    : `    directory: ${JSON.stringify(backend)}
    # http: { url: "http://127.0.0.1:9000/as4-in", timeout: 60s }   # instead of directory`
}

security:
  # The authorities, or single partners' certificates, that signatures are believed by.
  trust: ${JSON.stringify(files.trust)}
  # crl: keys/authority.crl          # revocation lists, one for each authority; you fetch them, as4-once reads them again
  # certificates: keys/partners.pem  # of partners whose messages name their certificate instead of carrying it
  # commonName: true                 # the CN must be the From PartyId. Default: true for peppol, false otherwise

${ledgerPart(redis)}  # A Standard Business Document that was delivered under another MessageId. flag: delivered again, marked, with the first
  # id. suppress: the same content gets a Receipt and is not delivered again. off: its header is not looked at.
  sbdh: flag
  # keepHeader: 30d                # keep the original SOAP part so long, for as4-once evidence

# What differs for some partners; the most specific one counts.
# partners:
#   - match: { from: POP000123 }
#     sbdh: suppress

${OPERATORS_PART}`;
}
