import { describe, expect, it } from 'vitest';
import { bareDocumentType, documentType, isPeppol, PEPPOL_AGREEMENT } from '../../src/policy/peppol.js';

const facts = (change: object) => ({ from: [], to: [], ...change });

describe('Peppol', () => {
  it('is known by its agreement or by the scheme of the action', () => {
    expect(isPeppol(facts({ agreement: PEPPOL_AGREEMENT }))).toBe(true);
    expect(isPeppol(facts({ action: 'busdox-docid-qns::urn:x::Invoice##y::2.1' }))).toBe(true);
    expect(isPeppol(facts({ action: 'peppol-doctype-wildcard::urn:x::Invoice##y*::2.1' }))).toBe(true);
  });

  it('is not seen in what only resembles it', () => {
    expect(isPeppol(facts({}))).toBe(false);
    expect(isPeppol(facts({ agreement: `${PEPPOL_AGREEMENT} ` }))).toBe(false);
    expect(isPeppol(facts({ action: 'urn:busdox-docid-qns::x' }))).toBe(false);
    expect(isPeppol(facts({ action: 'BUSDOX-DOCID-QNS::x' }))).toBe(false);
  });

  it('names its document type in the action, after the scheme', () => {
    expect(documentType(facts({ action: 'busdox-docid-qns::urn:x::Invoice##y::2.1' }))).toBe('urn:x::Invoice##y::2.1');
    expect(documentType(facts({ action: 'submit' }))).toBeUndefined();
    expect(bareDocumentType('peppol-doctype-wildcard::a::b')).toBe('a::b');
    expect(bareDocumentType('a::b')).toBe('a::b');
  });
});
