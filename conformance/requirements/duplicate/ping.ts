import { PING } from '../../as4/names.js';
import { receiptFor } from '../../run/checks.js';
import type { Requirement } from '../../run/requirement.js';

export const requirement: Requirement = {
  id: 'ebms/5.2.2.8/1',
  title: 'a test message gets its Receipt and is not delivered, however often it comes',
  level: 'must',
  says: 'a message to the test service is answered as any other and not given to the consumer',
  refs: ['ebMS Core 5.2.2.8, 5.2.2.9', 'AS4_CP_TA16', 'AS4_CP_TA17', 'AS4.NET 8.3.14'],
  sends: 'a message to the test service and action, twice',
  expects: 'a Receipt for the first copy, no delivery',
  needs: ['ping', 'delivery'],
  async run(c) {
    const ping = c.message({ message: { service: PING.service, action: PING.action } });
    const request = ping.build();
    receiptFor(await c.send(request, { label: 'first copy' }), ping);
    await c.send(request, { label: 'second copy' });
    await c.delivered(ping, 0);
  },
};
