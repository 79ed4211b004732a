import type { UserMessage } from '../ebms/units.js';
import { epochOf } from '../ebms/xs-date-time.js';
import { As4OnceError } from '../errors.js';

/**
 * Refuses a UserMessage that lacks what the schema demands (ebMS 3.0 Core 5.2.2, 5.2.2.1 to 5.2.2.8). A front leaves this
 * to its access point; here we are it, and nothing that is delivered may have an empty sender. Throws HEADER_INVALID.
 */
export function demandComplete({ timestamp, from, to, service, action }: UserMessage): void {
  const missing = (what: string): As4OnceError => new As4OnceError('HEADER_INVALID', `no eb:${what}`);
  if (epochOf(timestamp) === undefined) throw new As4OnceError('HEADER_INVALID', 'eb:Timestamp is no date and time');
  for (const [side, party] of [['From', from], ['To', to]] as const) {
    if (party.ids.length === 0) throw missing(`${side}/eb:PartyId`);
    if ((party.role ?? '').trim() === '') throw missing(`${side}/eb:Role`);
  }
  if (service.value === '') throw missing('Service');
  if (action.trim() === '') throw missing('Action');
}
