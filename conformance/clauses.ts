/** Where a clause stands. The first two parts of a requirement's id are its clause. */
export interface Clause {
  readonly document: string;
  readonly section: string;
  readonly about: string;
}

const AS4 = 'OASIS AS4 Profile of ebMS 3.0, Version 1.0';
const EBMS = 'OASIS ebMS 3.0, Part 1: Core Features';
const EC = 'EC eDelivery AS4 Test Assertions 1.2';
const ONCE = 'silent in the standards';

/**
 * Every clause that the suite covers. One without a requirement, or a requirement of another clause, fails the
 * suite's own test.
 */
export const CLAUSES: Readonly<Record<string, Clause>> = {
  'as4/2.1': { document: AS4, section: '2.1', about: 'what an ebHandler has to support' },
  'as4/3.1': { document: AS4, section: '3.1', about: 'compression of payloads' },
  'as4/3.2': { document: AS4, section: '3.2', about: 'reception awareness and duplicate detection' },
  'as4/3.4': { document: AS4, section: '3.4', about: 'what a Receipt says' },
  'as4/5.1.4': { document: AS4, section: '5.1.4', about: 'signing the header and the Body' },
  'as4/5.1.5': { document: AS4, section: '5.1.5', about: 'signing attachments' },
  'as4/5.1.8': { document: AS4, section: '5.1.8', about: 'Receipts' },
  'ebms/5.1': { document: EBMS, section: '5.1', about: 'packaging in SOAP and MIME' },
  'ebms/5.1.5': { document: EBMS, section: '5.1.5', about: 'payload parts' },
  'ebms/5.2.1': { document: EBMS, section: '5.2.1', about: 'the eb:Messaging header' },
  'ebms/5.2.2.1': { document: EBMS, section: '5.2.2.1', about: 'MessageInfo: MessageId and Timestamp' },
  'ebms/5.2.2.8': { document: EBMS, section: '5.2.2.8', about: 'the test service' },
  'ebms/5.2.4': { document: EBMS, section: '5.2.4', about: 'bundling of message units' },
  'ebms/6.3': { document: EBMS, section: '6.3', about: 'what an Error refers to' },
  'ebms/8.2.2': { document: EBMS, section: '8.2.2', about: 'what a duplicate is' },
  'ta/cp-ta04': { document: EC, section: 'AS4_CP_TA04', about: 'uncompressed payloads' },
  'ta/cp-ta07': { document: EC, section: 'AS4_CP_TA07', about: 'several payloads' },
  'ta/cp-ta08': { document: EC, section: 'AS4_CP_TA08', about: 'external payloads' },
  'ta/cp-ta20': { document: EC, section: 'AS4_CP_TA20', about: 'properties without a type' },
  'ta/cp-ta26': { document: EC, section: 'AS4_CP_TA26', about: 'the MimeType part property' },
  'ta/cp-ta30': { document: EC, section: 'AS4_CP_TA30', about: 'damaged compression' },
  'ta/cp-ta35': { document: EC, section: 'AS4_CP_TA35', about: 'order of compressing and signing' },
  'edelivery/1.15': {
    document: 'EC eDelivery AS4 1.15, common profile',
    section: 'reception awareness',
    about: 'no Receipt for what could not be processed',
  },
  'peppol/4.10': { document: 'OpenPeppol AS4 2.0.3', section: '4.10', about: 'HTTP transfer' },
  'rfc2046/5.1.1': { document: 'RFC 2046', section: '5.1.1', about: 'multipart syntax' },
  'rfc2045/5.1': { document: 'RFC 2045', section: '5.1', about: 'syntax of Content-Type' },
  'rfc2387/3.2': { document: 'RFC 2387', section: '3.2', about: 'the start parameter' },
  'rfc5322/2.2': { document: 'RFC 5322', section: '2.2', about: 'header fields and folding' },
  'rfc9110/8.4': { document: 'RFC 9110', section: '8.4', about: 'content coding' },
  'rfc9110/10.1.1': { document: 'RFC 9110', section: '10.1.1', about: 'Expect' },
  'rfc9112/6.3': { document: 'RFC 9112', section: '6.3', about: 'length of a message body' },
  'rfc9112/8': { document: 'RFC 9112', section: '8', about: 'incomplete messages' },
  'soap12/5': { document: 'SOAP 1.2, Part 1', section: '5', about: 'what a SOAP message may hold' },
  'xml/2.1': { document: 'XML 1.0', section: '2.1', about: 'well-formed documents' },
  'xml/2.4': { document: 'XML 1.0', section: '2.4', about: 'character data' },
  'xml/2.8': { document: 'XML 1.0', section: '2.8', about: 'the prolog' },
  'xml/4.3.3': { document: 'XML 1.0', section: '4.3.3', about: 'encodings and the byte order mark' },
  'xmlns/3': { document: 'Namespaces in XML', section: '3', about: 'prefixes' },
  'once/replay': { document: ONCE, section: 'replay', about: 'what a duplicate is answered with' },
  'once/flight': { document: ONCE, section: 'in flight', about: 'a copy while the first is in work' },
  'once/failure': { document: ONCE, section: 'failure', about: 'a retry after a failed delivery' },
  'once/forged': { document: ONCE, section: 'forged copies', about: 'copies that nobody may believe' },
  'once/sender': { document: ONCE, section: 'other sender', about: 'the same id from somebody else' },
  'once/content': { document: ONCE, section: 'other content', about: 'the same id with something else in it' },
  'once/window': { document: ONCE, section: 'window', about: 'the end of the duplicate window' },
  'once/store': { document: ONCE, section: 'store', about: 'the store cannot be reached' },
  'once/bounds': { document: ONCE, section: 'bounds', about: 'large, slow and many' },
};

/** The clause of a requirement's id. */
export function clauseOf(id: string): Clause | undefined {
  const key = id.slice(0, id.lastIndexOf('/'));
  return Object.hasOwn(CLAUSES, key) ? CLAUSES[key] : undefined;
}
