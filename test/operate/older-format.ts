import type { RecordBody, RecordFormat } from '../../src/ledger/codec.js';

/**
 * A format as an earlier release might have had it: the reference under another name, the parties as one text. There is
 * no such release; the test of upgrades needs one.
 */
export const OLDER: RecordFormat = {
  letter: '0',
  write: ({ reference, facts, ...rest }) => ({ ...rest, id: reference, who: JSON.stringify(facts) }),
  read: (json) => {
    const { id, who, ...rest } = json as Omit<RecordBody, 'reference' | 'facts'> & { id: string; who: string };
    return { ...rest, reference: id, facts: JSON.parse(who) as RecordBody['facts'] };
  },
};
