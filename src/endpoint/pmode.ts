import { factsOf } from '../ebms/as4.js';
import type { UserMessage } from '../ebms/units.js';
import { As4OnceError } from '../errors.js';
import type { EarlyMessage } from '../protocol.js';
import { PEPPOL_AGREEMENT } from '../policy/peppol.js';
import type { Rule } from '../policy/rule.js';
import type { SecurityPMode } from '../security/open-message.js';
import type { ProfileName } from '../security/profiles.js';
import { demandComplete } from './complete-header.js';
import { isPing } from './ping.js';

/** What the endpoint agrees to: its half of the P-Modes that is not security. */
export interface Agreed {
  readonly profile: ProfileName;
  /** Our own PartyIds; a message To anybody else is refused. Absent: not looked at. */
  readonly partyIds?: readonly string[];
  /** Final recipients (C4) that are served; compared without regard to case. Absent: all. */
  readonly receivers?: readonly string[];
  /** Senders that match no partner of the configuration are refused. */
  readonly onlyPartners: boolean;
  select(message: EarlyMessage): Rule;
  /** By the partner's name; undefined: what holds for everybody. */
  security(partner: string | undefined): SecurityPMode;
}

const PEPPOL_PARTY = 'urn:fdc:peppol.eu:2017:identifiers:ap';

/**
 * The P-Mode for a message, found by what its header claims. Throws HEADER_INVALID with what is missing, PMODE_MISMATCH,
 * NOT_SERVICED or FEATURE_UNSUPPORTED with the value that differs. Whether the header is to be believed is looked at afterwards, by that very P-Mode.
 */
export function pmodeFor(agreed: Agreed, user: UserMessage): SecurityPMode {
  demandComplete(user);
  const facts = factsOf(user);
  const rule = agreed.select({ protocol: 'as4', reference: user.messageId, facts, signed: true, fingerprint: undefined });
  if (agreed.onlyPartners && rule.partner === undefined) {
    throw mismatch(`no partner ${user.from.ids.map((p) => p.value).join(', ')}`);
  }
  const { partyIds, receivers } = agreed;
  if (partyIds !== undefined && !user.to.ids.some((p) => partyIds.includes(p.value))) {
    throw mismatch(`To is ${user.to.ids.map((p) => p.value).join(', ')}`);
  }
  if (agreed.profile === 'peppol') keepsPeppol(user, isPing(facts));
  const { c4 } = facts;
  const served = receivers === undefined || isPing(facts) || receivers.some((r) => r.toLowerCase() === c4?.toLowerCase());
  if (!served) throw new As4OnceError('NOT_SERVICED', agreed.profile === 'peppol' ? 'PEPPOL:NOT_SERVICED' : (c4 ?? 'no finalRecipient'));
  return agreed.security(rule.partner);
}

/** OpenPeppol AS4 2.0, 4.1 to 4.9, as far as it speaks of the header. The test service stands outside of it. */
function keepsPeppol(user: UserMessage, ping: boolean): void {
  if (user.refToMessageId !== undefined && user.refToMessageId !== '') {
    throw new As4OnceError('FEATURE_UNSUPPORTED', 'a UserMessage with RefToMessageId: Peppol is one-way (4.1)');
  }
  for (const [name, party] of [['From', user.from], ['To', user.to]] as const) {
    if (party.ids.length !== 1) throw mismatch(`${name} has ${party.ids.length} PartyIds (4.5)`);
    const type = party.ids[0]?.type ?? '';
    if (type !== PEPPOL_PARTY) throw mismatch(`${name} PartyId of type ${type} (4.5)`);
  }
  if (user.agreement?.value !== PEPPOL_AGREEMENT) throw mismatch(`AgreementRef ${user.agreement?.value ?? 'missing'} (4.3)`);
  if (ping) return;
  const [payload, ...more] = user.payloads;
  if (payload === undefined || more.length > 0) throw mismatch(`${user.payloads.length} payloads (4.9)`);
  if (/^\s*(#|$)/.test(payload.href ?? '')) throw mismatch('the payload stands in the SOAP Body (4.9)');
  for (const name of ['originalSender', 'finalRecipient']) {
    if (!user.messageProperties.some((p) => p.name === name && p.value !== '')) throw mismatch(`no ${name} (4.9)`);
  }
}

function mismatch(detail: string): As4OnceError {
  return new As4OnceError('PMODE_MISMATCH', detail.slice(0, 300));
}
