import { As4OnceError } from '../errors.js';
import type { Reply } from '../exchange.js';
import type { LedgerRecord } from '../ledger/record.js';
import { openReply } from '../receipt/stored-reply.js';
import type { Step } from '../walk.js';

/**
 * Answers a copy with the very bytes of the first answer (law 2): body, status and Content-Type. The digest is checked
 * before each replay; what cannot be read is 503 and an alert, never a redelivery.
 */
export function replay(step: Step, record: LedgerRecord): Reply {
  const { route, walk, notes } = step;
  const stored = record.reply;
  if (stored === undefined) throw unreadable(step, record, 'the record is settled without a reply');
  let body: Uint8Array;
  try {
    body = openReply(stored);
  } catch (error) {
    throw unreadable(step, record, error instanceof As4OnceError ? error.detail : String(error));
  }
  if (stored.receiptId !== undefined) notes.receiptId = stored.receiptId;
  notes.receiptSha256 = stored.sha256;
  return {
    status: stored.status,
    headers: [
      ...(stored.contentType === '' ? [] : ([['Content-Type', stored.contentType]] as const)),
      ...(stored.headers ?? []),
      // A proxy that recodes the Receipt would break its signature.
      ['Cache-Control', 'no-transform'],
      ...(route.markReplay ? ([['As4-Once-Answer', 'replay']] as const) : []),
    ],
    body,
  };

  function unreadable(at: Step, of: LedgerRecord, reason: string): As4OnceError {
    walk.events.emit('unreadable', { key: of.key, messageId: of.reference, reason });
    at.notes.detail = reason;
    return new As4OnceError('RECORD_UNREADABLE', reason);
  }
}
