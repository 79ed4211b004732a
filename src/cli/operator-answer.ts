import { As4OnceError } from '../errors.js';
import type { OperatorAnswer } from '../ledger/port.js';
import { EXIT, type Io } from './io.js';
import { recordJson } from './show-record.js';

/** What the ledger said to an operator's command, as output and exit code. */
export function answered(answer: OperatorAnswer, done: string, json: boolean, io: Io): number {
  switch (answer.kind) {
    case 'ok':
      io.out(json ? `${JSON.stringify(recordJson(answer.record), undefined, 2)}\n` : `${done}\n`);
      return EXIT.ok;
    case 'gone':
      throw new As4OnceError('NOT_FOUND', 'the record is gone');
    case 'live':
      throw new As4OnceError('LEASE_LIVE', answer.why);
    case 'notAllowed':
      throw new As4OnceError('NOT_ALLOWED', answer.why);
    case 'foreign':
      throw new As4OnceError('RECEIPT_FOREIGN', answer.why);
  }
}
