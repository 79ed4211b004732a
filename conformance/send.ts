import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readAnswer } from './as4/answer.js';
import type { Answer } from './as4/answer.js';
import { buildRequest } from './as4/request.js';
import type { BuiltRequest } from './as4/request.js';
import { verifyEnvelope } from './as4/verify.js';
import { EXIT, Usage } from './exit.js';
import type { Output } from './exit.js';
import { makeIdentity, readIdentity } from './keys.js';
import type { Identity } from './keys.js';
import { agreementOf, messageUnder, PROFILES } from './profile.js';
import type { ProfileName } from './profile.js';
import { sendRaw } from './wire/send.js';

export const SEND_USAGE = `as4-once-conformance send --url URL --file FILE [options]
  Sends FILE as the payload of an AS4 UserMessage, as a plain sender would, and shows what comes back.

  --times N          copies with the same MessageId, one after the other (1)
  --concurrent       all copies at once instead
  --resign           sign (and encrypt) each copy anew, as a rebuilt retry; otherwise every copy has the same bytes
  --message-id ID    (a fresh one)
  --key FILE --cert FILE   sign with these, PEM; without them a self-signed test key is made for this run
  --unsigned         do not sign
  --encrypt FILE     certificate of the receiver, PEM: encrypt the payload for it
  --receiver FILE    certificate that must have signed the Receipt, PEM
  --profile NAME     ${PROFILES.join(' | ')} (custom)
  --from ID --to ID --service S --service-type T --action A   values of the header
  --mime-type T      media type of FILE (application/xml for .xml, else application/octet-stream)
  --no-compress      send the payload without gzip
  --timeout SECONDS  how long an answer is awaited (120)
  --save DIR         write each answer's body to DIR
  --json             print one JSON document
`;

const OPTIONS = {
  url: { type: 'string' },
  file: { type: 'string' },
  times: { type: 'string' },
  concurrent: { type: 'boolean' },
  resign: { type: 'boolean' },
  'message-id': { type: 'string' },
  key: { type: 'string' },
  cert: { type: 'string' },
  unsigned: { type: 'boolean' },
  encrypt: { type: 'string' },
  receiver: { type: 'string' },
  profile: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  service: { type: 'string' },
  'service-type': { type: 'string' },
  action: { type: 'string' },
  'mime-type': { type: 'string' },
  'no-compress': { type: 'boolean' },
  timeout: { type: 'string' },
  save: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** What was answered to one copy. */
export interface CopyResult {
  readonly copy: number;
  readonly status: number | null;
  readonly answer: Answer['what'];
  readonly summary: string;
  readonly receiptId: string | null;
  readonly refToMessageId: string | null;
  /** `valid`, `unsigned`, `foreign` (another certificate than --receiver), or why the signature does not verify. */
  readonly signature: string | null;
  readonly sha256: string | null;
  readonly bytes: number;
  readonly identicalToFirst: boolean;
  readonly ms: number;
}

/** The `send` command. Exit code 0 when every copy got a Receipt for this message, otherwise 1. */
export async function sendCommand(args: string[], out: Output): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS, strict: true, allowPositionals: false });
  if (values.url === undefined || values.file === undefined) throw new Usage('--url and --file are needed', SEND_USAGE);
  const url = asUrl(values.url);
  const times = asCount('--times', values.times ?? '1', 10_000);
  const answerMs = asCount('--timeout', values.timeout ?? '120', 86_400) * 1_000;
  const make = planOf(values);
  const receiver = values.receiver === undefined ? undefined : new X509Certificate(readFileSync(values.receiver));
  const first = make();
  const requests = Array.from({ length: times }, (_, index) =>
    index === 0 || values.resign !== true ? first : make(),
  );
  const answers: Answer[] = [];
  const send = async (request: BuiltRequest): Promise<Answer> =>
    readAnswer(await sendRaw(url, { contentType: request.contentType, body: request.body, answerMs }));
  if (values.concurrent === true) answers.push(...(await Promise.all(requests.map(send))));
  else for (const request of requests) answers.push(await send(request));
  const results = answers.map((answer, index) => resultOf(answer, index, answers[0] as Answer, receiver));
  if (values.save !== undefined) saveAnswers(values.save, answers);
  if (values.json === true) {
    const shown = { url: url.href, messageId: first.messageId, signed: first.references.length > 0, copies: results };
    out.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else print(out, url, first, results);
  return results.every((result) => result.answer === 'receipt' && result.refToMessageId === first.messageId)
    ? EXIT.ok
    : EXIT.failed;
}

function planOf(values: { readonly [K in keyof typeof OPTIONS]?: string | boolean }): () => BuiltRequest {
  const text = (key: keyof typeof OPTIONS): string | undefined =>
    typeof values[key] === 'string' ? values[key] : undefined;
  const profile = (text('profile') ?? 'custom') as ProfileName;
  if (!PROFILES.includes(profile)) throw new Usage(`--profile is one of ${PROFILES.join(', ')}`, SEND_USAGE);
  const agreement = agreementOf(profile, text('from') ?? 'as4-once-sender', text('to') ?? 'as4-once-receiver');
  const file = text('file') ?? '';
  const mimeType = text('mime-type') ?? (file.endsWith('.xml') ? 'application/xml' : 'application/octet-stream');
  const payload = {
    content: readFileSync(file),
    mimeType,
    compress: values['no-compress'] !== true,
    contentId: `${crypto.randomUUID()}@as4-once-conformance.test`,
  };
  const message = messageUnder(agreement, [payload], {
    ...(text('message-id') === undefined ? {} : { messageId: text('message-id') as string }),
    ...(text('service') === undefined ? {} : { service: text('service') as string }),
    ...(text('service-type') === undefined ? {} : { serviceType: text('service-type') as string }),
    ...(text('action') === undefined ? {} : { action: text('action') as string }),
  });
  const identity = values.unsigned === true ? undefined : identityOf(text('key'), text('cert'), agreement.from.id);
  const encryptFor = text('encrypt');
  const receiver = encryptFor === undefined ? undefined : new X509Certificate(readFileSync(encryptFor));
  return () =>
    buildRequest({
      message,
      ...(identity === undefined ? {} : { identity }),
      ...(receiver === undefined ? {} : { receiver }),
    });
}

function identityOf(key: string | undefined, cert: string | undefined, name: string): Identity {
  if ((key === undefined) !== (cert === undefined)) throw new Usage('--key and --cert go together', SEND_USAGE);
  return key === undefined || cert === undefined
    ? makeIdentity(name)
    : readIdentity(readFileSync(key, 'utf8'), readFileSync(cert, 'utf8'));
}

function resultOf(answer: Answer, index: number, first: Answer, receiver: X509Certificate | undefined): CopyResult {
  return {
    copy: index + 1,
    status: answer.status ?? null,
    answer: answer.what,
    summary: answer.summary,
    receiptId: answer.receipt?.messageId ?? null,
    refToMessageId: answer.receipt?.refToMessageId ?? answer.errors[0]?.refToMessageId ?? null,
    signature: signatureOf(answer, receiver),
    sha256: answer.sha256 === '' ? null : answer.sha256,
    bytes: answer.body.length,
    identicalToFirst:
      answer.sha256 !== '' &&
      answer.status === first.status &&
      answer.contentType === first.contentType &&
      answer.body.equals(first.body),
    ms: answer.wire.ms,
  };
}

function signatureOf(answer: Answer, receiver: X509Certificate | undefined): string | null {
  if (answer.receipt === undefined || answer.envelope === undefined) return null;
  if (!answer.receipt.signed) return 'unsigned';
  try {
    const { certificate } = verifyEnvelope(answer.envelope);
    return receiver === undefined || certificate.raw.equals(receiver.raw) ? 'valid' : 'foreign';
  } catch (error) {
    return `invalid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function saveAnswers(directory: string, answers: readonly Answer[]): void {
  mkdirSync(directory, { recursive: true });
  for (const [index, answer] of answers.entries()) writeFileSync(join(directory, `answer-${index + 1}`), answer.body);
}

function print(out: Output, url: URL, request: BuiltRequest, results: readonly CopyResult[]): void {
  out.write(
    `MessageId ${request.messageId}, ${request.body.length} bytes, ` +
    `${request.references.length > 0 ? 'signed' : 'unsigned'}, to ${url.href}\n`,
  );
  for (const result of results) {
    const same =
      result.copy === 1
        ? ''
        : result.identicalToFirst
          ? ', identical to the first answer'
          : ', NOT identical to the first answer';
    const signature = result.signature === null ? '' : `, signature ${result.signature}`;
    out.write(`copy ${result.copy}: ${result.summary}${signature}, ${result.ms} ms\n`);
    if (result.sha256 !== null) out.write(`        sha256 ${result.sha256}, ${result.bytes} bytes${same}\n`);
  }
}

function asUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Usage(`--url ${JSON.stringify(text)} is no http or https address`, SEND_USAGE);
  return url;
}

function asCount(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Usage(`${option} is a whole number from 1 to ${most}`, SEND_USAGE);
  return value;
}
