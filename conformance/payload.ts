import { PEPPOL } from './as4/names.js';
import { escapeText } from './as4/xml.js';
import type { Agreement, ProfileName } from './profile.js';

/**
 * A business document with `token` in it, padded to at least `bytes`. For Peppol an invoice in a Standard Business
 * Document (Peppol Business Message Envelope 2.0), otherwise a plain XML document. Invented data.
 */
export function businessDocument(profile: ProfileName, agreement: Agreement, token: string, bytes = 0): string {
  const padding = (length: number) =>
    'as4-once conformance filling. '.repeat(Math.ceil(Math.max(0, bytes - length) / 30));
  if (profile !== 'peppol') {
    const wrap = (note: string) =>
      '<?xml version="1.0" encoding="UTF-8"?>\n<order xmlns="urn:as4-once:conformance">' +
      `<id>${escapeText(token)}</id><note>${note}</note></order>\n`;
    return wrap(padding(wrap('').length));
  }
  const c1 = agreement.properties.find(({ name }) => name === 'originalSender')?.value ?? '';
  const c4 = agreement.properties.find(({ name }) => name === 'finalRecipient')?.value ?? '';
  const wrap = (note: string) => envelope(agreement, c1, c4, token, invoice(token, note));
  return wrap(padding(wrap('').length));
}

function envelope(agreement: Agreement, c1: string, c4: string, token: string, document: string): string {
  const scheme = PEPPOL.participantType;
  const scope = (type: string, value: string, identifier: string) =>
    `<Scope><Type>${type}</Type><InstanceIdentifier>${escapeText(value)}</InstanceIdentifier>` +
    `<Identifier>${escapeText(identifier)}</Identifier></Scope>`;
  const separator = agreement.action.indexOf('::');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader">',
    '<StandardBusinessDocumentHeader><HeaderVersion>1.0</HeaderVersion>',
    `<Sender><Identifier Authority="${scheme}">${escapeText(c1)}</Identifier></Sender>`,
    `<Receiver><Identifier Authority="${scheme}">${escapeText(c4)}</Identifier></Receiver>`,
    '<DocumentIdentification><Standard>urn:oasis:names:specification:ubl:schema:xsd:Invoice-2</Standard>',
    `<TypeVersion>2.1</TypeVersion><InstanceIdentifier>${escapeText(token)}</InstanceIdentifier><Type>Invoice</Type>`,
    '<CreationDateAndTime>2026-01-01T00:00:00Z</CreationDateAndTime></DocumentIdentification>',
    '<BusinessScope>',
    scope('DOCUMENTID', agreement.action.slice(separator + 2), agreement.action.slice(0, separator)),
    scope('PROCESSID', agreement.service, agreement.serviceType ?? ''),
    '<Scope><Type>COUNTRY_C1</Type><InstanceIdentifier>DE</InstanceIdentifier></Scope>',
    `</BusinessScope></StandardBusinessDocumentHeader>${document}</StandardBusinessDocument>`,
  ].join('');
}

function invoice(token: string, note: string): string {
  const cbc = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2';
  return [
    `<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cbc="${cbc}">`,
    '<cbc:CustomizationID>urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0',
    '</cbc:CustomizationID>',
    `<cbc:ProfileID>${PEPPOL.service}</cbc:ProfileID><cbc:ID>${escapeText(token)}</cbc:ID>`,
    '<cbc:IssueDate>2026-01-01</cbc:IssueDate><cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode>',
    `<cbc:Note>${note}</cbc:Note>`,
    '<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode></Invoice>',
  ].join('');
}
