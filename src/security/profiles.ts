import { STRICT } from './algorithms.js';
import type { SecurityPMode } from './open-message.js';
import type { Trust } from './trust.js';

/** Security profiles by name; `custom` starts from eDelivery's and is changed by the P-Mode's own values. */
export type ProfileName = 'peppol' | 'edelivery' | 'custom';

/**
 * What a profile asks of an inbound message.
 *
 * - `peppol`: OpenPeppol AS4 2.0.x: signed, encrypted, the certificate's CN is the From PartyId.
 * - `edelivery`: eDelivery AS4 1.15 common profile: signed and encrypted; who may send is the trust anchors' matter.
 */
export function securityProfile(profile: ProfileName, trust: Trust, own: Partial<SecurityPMode> = {}): SecurityPMode {
  return {
    name: profile,
    trust,
    algorithms: STRICT,
    party: profile === 'peppol' ? 'commonName' : 'any',
    signature: 'required',
    encryption: 'required',
    unsignedEmptyBody: 'refuse',
    ...own,
  };
}
