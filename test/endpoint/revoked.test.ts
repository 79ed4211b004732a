import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readIdentity } from '../../conformance/keys.js';
import { systemClock } from '../../src/clock.js';
import { selfSigned, type Identity } from '../../src/security/keys.js';
import { revocationList } from '../security/revocation-list.js';
import { tempDir } from '../support/temp-dir.js';
import { honest, serveEndpoint } from './served.js';

/**
 * A partner's certificate was listed in security.trust beside its authority, with the authority's list in security.crl.
 * When the authority revoked it, its messages were delivered all the same: the path ended before a list was asked.
 */
describe('a certificate that is pinned beside its authority', () => {
  const folder = tempDir('revoked');
  afterAll(() => folder.remove());
  const authority = selfSigned('Test CA', { authority: true });
  const pinned = selfSigned('POP000001', { issuer: authority });
  const other = selfSigned('POP000001', { issuer: authority });
  const suite = ({ privateKey, certificate }: Identity) =>
    readIdentity(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate.x509.toString());

  it.each([
    ['is refused once the list names it', pinned, 'EBMS:0101'],
    ['is believed while the list names another one', other, undefined],
  ] as const)('%s', async (_, revoked, error) => {
    const crl = join(folder.path, 'ca.crl');
    writeFileSync(crl, revocationList(authority, [revoked.certificate.serial], systemClock.now() + 86_400_000));
    const served = await serveEndpoint({ security: { crl }, trusted: [authority.certificate.x509, pinned.certificate.x509] });
    const answer = await served.post(honest({ signer: suite(pinned) }));
    expect([answer.errors[0]?.code, answer.what]).toEqual([error, error === undefined ? 'receipt' : 'error']);
    if (error !== undefined) expect(served.exchanges[0]?.detail).toContain('is revoked');
    await served.close();
  });
});
