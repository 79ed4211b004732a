import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { As4OnceError } from '../errors.js';
import { openAcks, storeAcks, type Acks, type StoredAck } from '../watch/stored-acks.js';
import { readToken, standing } from './claim-token.js';
import { readGiven } from './given-file.js';
import { EXIT, type Io } from './io.js';
import { configured, withLedger } from './records.js';

const HELP = `as4-once settle --token: a file that as4-once claim granted was processed

Usage: as4-once settle --token TOKEN [--ack FILE] [--config FILE]

FILE is the acknowledgement that went back; a repetition gets it again (as4-once claim prints it). It may come later,
with the same command once more.

Exit codes: 0 settled · 1 the claim was lost to another copy, or the ledger no longer knows it · 2 wrong command line · 75 ledger not reached
`;

export async function settleToken(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args], options: { token: { type: 'string' }, ack: { type: 'string' }, config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const token = readToken(values.token ?? '');
  const ack = values.ack === undefined ? undefined : ackOf(values.ack);
  const config = configured(values.config, io);
  return await withLedger(config, async (ledger) => {
    for (const { key, token: own, record, claim, beganMsAgo } of await standing(ledger, token)) {
      const settled = record.state === 'settled' && record.token === own;
      const reply = storeAcks(withAck(settled ? openAcks(record.reply) : undefined, own, ack));
      if (reply.length > config.limits.maxReply) {
        throw new As4OnceError('USAGE', `the acknowledgements of one message are larger than limits.maxReply (${config.limits.maxReply} bytes)`);
      }
      const answer = settled
        ? await ledger.attach({ key, reply })
        : await ledger.settle({ key, token: own, fingerprint: record.fingerprint, reply, beganMsAgo, claim });
      if (answer.kind !== 'ok' || answer.record.token !== own) {
        throw new As4OnceError('STALE', `${record.reference} is ${answer.kind === 'gone' ? 'gone' : answer.record.state} by another copy`);
      }
    }
    io.out(values.json === true ? `${JSON.stringify({ settled: token.keys.length })}\n` : 'settled: a repetition is told so from now on\n');
    return EXIT.ok;
  });
}

function withAck(stored: Acks | undefined, token: string, ack: StoredAck | undefined): Acks {
  const { acks, replays } = stored ?? { acks: [], replays: [] };
  const known = ack === undefined || acks.some(({ name, sha256 }) => name === ack.name && sha256 === ack.sha256);
  return { token, replays, acks: known ? acks : [...acks, ack] };
}

function ackOf(file: string): StoredAck {
  const bytes = readGiven(file);
  return { name: basename(file), kind: 'file', verdict: 'positive', sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.toString('base64') };
}
