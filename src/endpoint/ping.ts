import type { Facts } from '../message.js';

const CORE = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';

/** The test service (ebMS Core 5.2.2.8, eDelivery AS4 1.15): answered like any message, delivered to nobody. */
export function isPing({ service, action }: Pick<Facts, 'service' | 'action'>): boolean {
  return service === `${CORE}service` && action === `${CORE}test`;
}
