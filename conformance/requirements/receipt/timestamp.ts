import { receiptFor } from '../../run/checks.js';
import { Broken } from '../../run/requirement.js';
import type { Requirement } from '../../run/requirement.js';

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/;
const DAY_MS = 86_400_000;

export const requirement: Requirement = {
  id: 'ebms/5.2.2.1/2',
  title: 'the Receipt carries a Timestamp in UTC',
  level: 'must',
  says: 'Timestamp is an xs:dateTime expressed as UTC; the Z may be left out',
  refs: ['ebMS Core 5.2.2.1'],
  sends: 'one message',
  expects: "an xs:dateTime within a day of the suite's own clock",
  async run(c) {
    const message = c.message();
    const stamp = receiptFor(await c.send(message), message).timestamp;
    if (stamp === undefined || !DATE_TIME.test(stamp))
      throw new Broken(`the Timestamp is ${JSON.stringify(stamp ?? null)}`);
    const zone = /(Z|[+-]\d{2}:\d{2})$/.exec(stamp)?.[1];
    if (zone !== undefined && zone !== 'Z' && zone !== '+00:00')
      throw new Broken(`the Timestamp ${stamp} is not in UTC`);
    const at = Date.parse(zone === undefined ? `${stamp}Z` : stamp);
    if (Math.abs(at - Date.now()) > DAY_MS) throw new Broken(`the Timestamp ${stamp} is more than a day off`);
  },
};
