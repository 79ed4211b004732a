/**
 * The closed table of everything that can go wrong at a door of as4-once.
 *
 * A code is stable: it stands in the log, in `--json` output and in the README's table. `advice` is one sentence that
 * tells the operator what to do. `ebms` names the ebMS error that goes to the sender (ebMS 3.0 Core 6.7, AS4 3.6);
 * a code without it is answered with a plain text body, so that no sender takes it for an ebMS Error.
 */
export interface ErrorEntry {
  /** HTTP status of the answer to the sender. */
  readonly status: number;
  /** HTTP status in role endpoint, where that is another one. */
  readonly endpointStatus?: number;
  readonly ebms?: { readonly code: string; readonly short: string; readonly category: string };
  readonly advice: string;
}

const content = (code: string, short: string) => ({ code, short, category: 'Content' });
const unpackaging = (code: string, short: string) => ({ code, short, category: 'Unpackaging' });
const processing = (code: string, short: string) => ({ code, short, category: 'Processing' });
const communication = (code: string, short: string) => ({ code, short, category: 'Communication' });
const entry = (status: number, advice: string, ebms?: ErrorEntry['ebms']): ErrorEntry =>
  ebms === undefined ? { status, advice } : { status, advice, ebms };

export const ERRORS = {
  // the HTTP request itself
  BODY_CONSUMED: entry(500, 'Mount as4-once before any body parser: it has to read the bytes itself.'),
  LENGTH_AMBIGUOUS: entry(400, 'The request carries two lengths, or a length with chunked coding; ask the sender or a proxy in between to send one.'),
  MEDIA_TYPE: entry(415, 'The request is neither multipart/related nor a SOAP envelope; check the URL the sender was given.'),
  CONTENT_CODING: entry(415, 'The request uses a Content-Encoding other than gzip or identity; ask the sender to switch it off.'),
  BODY_TOO_LARGE: entry(413, 'The body is larger than limits.maxBody; raise it if the partner may send such messages.'),
  BODY_TOO_SLOW: entry(408, 'The sender stopped sending, or sent more slowly than limits.minRate; look at the network between.'),
  BODY_INCOMPLETE: entry(400, 'The connection ended before the body did; the sender will retry.'),
  SPOOL_FULL: entry(503, 'The spool is full; free disk space or raise limits.spoolDisk.'),
  TOO_MANY_WAITING: entry(503, 'More copies wait than limits.waiters or limits.waitersPerKey allow; see why the access point (role endpoint: the backend) is slow.'),
  // MIME and SOAP
  MIME_BROKEN: entry(400, 'The MIME package cannot be read; the detail says where. Ask the sender for its raw request.', unpackaging('EBMS:0007', 'MimeInconsistency')),
  MIME_START: entry(400, 'The start parameter names another part than the first; access points differ in what they read then, so it is refused.', unpackaging('EBMS:0007', 'MimeInconsistency')),
  ROOT_TOO_LARGE: entry(400, 'The SOAP part is larger than limits.rootPart.', unpackaging('EBMS:0007', 'MimeInconsistency')),
  TOO_MANY_PARTS: entry(400, 'The package has more MIME parts than limits.parts.', unpackaging('EBMS:0007', 'MimeInconsistency')),
  XML_BROKEN: entry(400, 'The SOAP envelope is not well-formed XML; the detail says where.', unpackaging('EBMS:0009', 'InvalidHeader')),
  XML_FORBIDDEN: entry(400, 'The envelope holds a DOCTYPE or a processing instruction, which SOAP forbids.', unpackaging('EBMS:0009', 'InvalidHeader')),
  XML_TOO_DEEP: entry(400, 'The envelope is nested deeper than limits.depth.', unpackaging('EBMS:0009', 'InvalidHeader')),
  DUPLICATE_ID: entry(400, 'Two elements of the envelope carry the same Id, so a signature could mean either.', unpackaging('EBMS:0009', 'InvalidHeader')),
  HEADER_INVALID: entry(400, 'eb:Messaging is missing, occurs twice or lacks a required element; the detail says which.', unpackaging('EBMS:0009', 'InvalidHeader')),
  MESSAGE_ID_INVALID: entry(400, 'eb:MessageId is empty, holds elements or is longer than limits.messageId.', unpackaging('EBMS:0009', 'InvalidHeader')),
  PARTY_ID_INVALID: entry(400, 'A PartyId is empty or longer than limits.partyId.', unpackaging('EBMS:0009', 'InvalidHeader')),
  BUNDLED: entry(200, 'A UserMessage came bundled with a signal; set bundle: forward for the partner if that is agreed.', unpackaging('EBMS:0008', 'FeatureNotSupported')),
  UNSIGNED: entry(200, 'The partner must sign (unsigned: refuse) and this message carries no signature.', processing('EBMS:0103', 'PolicyNoncompliance')),
  // EDI envelopes and references
  EDI_BROKEN: entry(400, 'The interchange cannot be read; the detail names segment and offset.'),
  SBDH_BROKEN: entry(400, 'The StandardBusinessDocumentHeader cannot be read; the detail says why.'),
  REFERENCE_MISSING: entry(400, 'The rule of this route found no reference in the request; compare the rule with what the partner sends.'),
  // the ledger's answers
  MISMATCH: entry(200, 'The same id came with other content than was accepted: the sender reused an id; ask it for a new one.', content('EBMS:0003', 'ValueInconsistent')),
  OTHER_SENDER: entry(200, 'The same id was accepted from another sender (key: reference); use key: reference+sender, or otherSender: deliver.', content('EBMS:0003', 'ValueInconsistent')),
  IN_PROGRESS: entry(503, 'The first copy is still in work; the sender is asked to come again.'),
  HELD: entry(503, 'The message waits for an operator: as4-once show ID, then settle or release.'),
  LEDGER_DOWN: entry(503, 'The ledger cannot be reached; nothing is decided or delivered until it can. Check the store.'),
  LEDGER_BEHIND: entry(503, 'The ledger went back in time; look at as4-once ledger status, then as4-once ledger accept.'),
  LEDGER_FULL: entry(503, 'The ledger takes no new claims (memory or disk bound reached); make room.'),
  RECORD_UNREADABLE: entry(503, 'The stored record or reply does not match its digest; nothing is replayed or redelivered. Restore the ledger.'),
  STALE: entry(503, 'Another attempt holds or has decided this message; the sender is asked to come again.'),
  // the access point or backend
  UPSTREAM_DOWN: entry(503, 'The access point refused the connection until times.upstreamOutage was over, or (role endpoint, at once) the backend refused it, answered 408, 425 or 429, or its folder takes nothing; see to it, the sender comes again.'),
  UPSTREAM_UNCLEAR: { ...entry(502, 'The access point, or in role endpoint the backend, gave no answer that tells whether it accepted; see as4-once show ID.'), endpointStatus: 503 },
  UPSTREAM_WRONG: entry(502, 'The access point answered for another message; do not trust it before this is explained.'),
  UPSTREAM_BURNT: entry(503, 'The access point calls a message a repetition that it had rejected; it remembers ids of failures: see its cookbook page.'),
  ANSWER_LATE: entry(504, 'The access point, or in role endpoint the backend, did not answer within times.answerBy; the attempt goes on and a later copy gets its Receipt.'),
  DELIVERY_FAILED: entry(200, 'The backend refused the message (4xx, or the handler threw this code); see its own log.', communication('EBMS:0202', 'DeliveryFailure')),
  // security (endpoint role, verify: signature)
  AUTHENTICATION_FAILED: entry(200, 'Signature, digest or certificate did not verify; the detail in the log says which.', processing('EBMS:0101', 'FailedAuthentication')),
  DECRYPTION_FAILED: entry(200, 'The message could not be decrypted with this access point\'s key; compare the certificate the partner uses.', processing('EBMS:0102', 'FailedDecryption')),
  POLICY_FAILED: entry(200, 'The message does not meet the P-Mode\'s security policy; the detail says what is missing.', processing('EBMS:0103', 'PolicyNoncompliance')),
  PMODE_MISMATCH: entry(200, 'No P-Mode fits the message; the detail says which value differs.', processing('EBMS:0010', 'ProcessingModeMismatch')),
  DECOMPRESSION_FAILED: entry(200, 'A payload could not be decompressed, or grew past its bound.', communication('EBMS:0303', 'DecompressionFailure')),
  EXTERNAL_PAYLOAD: entry(200, 'The message refers to a payload outside the package.', content('EBMS:0011', 'ExternalPayloadError')),
  VALUE_INCONSISTENT: entry(200, 'A header value contradicts another; the detail says which.', content('EBMS:0003', 'ValueInconsistent')),
  FEATURE_UNSUPPORTED: entry(200, 'The message uses a feature this endpoint does not offer; the detail says which.', unpackaging('EBMS:0008', 'FeatureNotSupported')),
  SIGNER_UNFIT: entry(503, 'Our certificate cannot sign Receipts (not valid yet, expired, too short a key; the detail says which); nothing is claimed or delivered until endpoint.keys has one that can.'),
  NOT_SERVICED: entry(200, 'The receiver is not serviced by this access point.', content('EBMS:0004', 'Other')),
  // commands and configuration
  CONFIG_INVALID: entry(500, 'The configuration file is wrong; path and line are given.'),
  LISTEN_FAILED: entry(500, 'The address cannot be listened on; see which process has it, or change listen.'),
  USAGE: entry(500, 'The command line is wrong; see --help.'),
  UNAUTHORIZED: entry(401, 'The admin API needs the token of admin.token as Authorization: Bearer, or a client certificate that admin.tls trusts.'),
  REQUEST_INVALID: entry(400, 'The request to the admin API is wrong; the detail says which field. See docs/admin-api.md.'),
  NOT_FOUND: entry(404, 'No record of this id; check spelling, case and partner.'),
  LEASE_LIVE: entry(409, 'An attempt is in progress; wait for it, or use --force if you know that its process is gone.'),
  NOT_ALLOWED: entry(409, 'The record is not in a state in which this may be done; the detail says which state it is in.'),
  RECEIPT_FOREIGN: entry(409, 'The Receipt is for another message or other content than was attempted.'),
  INTERNAL: entry(500, 'A fault in as4-once; please report it with the log line.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected refusal or failure: always one of the table's codes, with a detail for the log (never a secret). */
export class As4OnceError extends Error {
  override readonly name = 'As4OnceError';
  readonly code: ErrorCode;
  readonly detail: string;
  constructor(code: ErrorCode, detail = '', options?: ErrorOptions) {
    super(detail === '' ? `${code}: ${ERRORS[code].advice}` : `${code}: ${detail}. ${ERRORS[code].advice}`, options);
    this.code = code;
    this.detail = detail;
  }
  get entry(): ErrorEntry {
    return ERRORS[this.code];
  }
}
