import type { Facts } from '../message.js';

/** AgreementRef of every Peppol message (OpenPeppol AS4 profile 2.0, 4.3). */
export const PEPPOL_AGREEMENT = 'urn:fdc:peppol.eu:2017:agreements:tia:ap_provider';

/** Schemes of a Peppol document type identifier, as they stand before `::` in the action (4.6). */
const DOCUMENT_SCHEMES = ['busdox-docid-qns::', 'peppol-doctype-wildcard::'] as const;

/** Whether a message travels under Peppol's rules: by its agreement, or by the document type in its action. */
export function isPeppol(facts: Facts): boolean {
  return facts.agreement === PEPPOL_AGREEMENT || documentScheme(facts.action) !== undefined;
}

/** The document type that a Peppol action names, without its scheme; undefined for other actions. Case counts. */
export function documentType(facts: Facts): string | undefined {
  return facts.action === undefined ? undefined : withoutScheme(facts.action);
}

/** A document type as an operator may write it: with or without its scheme. */
export function bareDocumentType(text: string): string {
  return withoutScheme(text) ?? text;
}

function withoutScheme(text: string): string | undefined {
  const scheme = documentScheme(text);
  return scheme === undefined ? undefined : text.slice(scheme.length);
}

function documentScheme(action: string | undefined): string | undefined {
  return DOCUMENT_SCHEMES.find((scheme) => action?.startsWith(scheme) === true);
}
