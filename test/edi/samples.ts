/** Interchanges made for these tests; parties and numbers are invented. */

export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

export const edifact = (ref = 'REF1', { una = '', unz = `UNZ+1+${ref}'`, body = "UNH+1+ORDERS:D:96A:UN'BGM+220+PO?'1'UNT+3+1'", test = '' } = {}): string =>
  `${una}UNB+UNOC:3+SENDER:14:S1+RECEIVER:ZZ+240229:1305+${ref}++ORDERS++++${test}'${body}${unz}`;

export const isa = (control: string, { sender = 'SENDER', receiver = 'RECEIVER', test = 'P', date = '240229', time = '1305', version = '00501' } = {}): string =>
  `ISA*00*          *00*          *ZZ*${sender.padEnd(15)}*01*${receiver.padEnd(15)}*${date}*${time}*^*${version}*${control.padStart(9, '0')}*0*${test}*:~`;

export const x12 = (control = '1', { body = 'GS*PO*SENDER*RECEIVER*20240229*1305*7*X*005010~ST*850*0001~BEG*00*NE*PO1~SE*3*0001~GE*1*7~', groups = '1', ...head }: Parameters<typeof isa>[1] & { body?: string; groups?: string } = {}): string =>
  `${isa(control, head)}\n${body}IEA*${groups}*${control.padStart(9, '0')}~\n`;

export const sbd = ({ id = 'doc-1', sender = '0088:1', receiver = '0088:2', payload = '<Invoice xmlns="urn:x" xmlns:b="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"><b:ID>INV1</b:ID></Invoice>', head = '', version = '1.0', date = '2024-02-29T13:05:00Z', prolog = '<?xml version="1.0" encoding="UTF-8"?>', authority = 'iso6523-actorid-upis' } = {}): string =>
  `${prolog}<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader">`
  + `<StandardBusinessDocumentHeader><HeaderVersion>${version}</HeaderVersion>`
  + `<Sender><Identifier Authority="${authority}">${sender}</Identifier></Sender>`
  + `<Receiver><Identifier Authority="${authority}">${receiver}</Identifier></Receiver>${head}`
  + `<DocumentIdentification><Standard>urn:x</Standard><TypeVersion>2.1</TypeVersion><InstanceIdentifier>${id}</InstanceIdentifier>`
  + `<Type>Invoice</Type><CreationDateAndTime>${date}</CreationDateAndTime></DocumentIdentification>`
  + '<BusinessScope><Scope><Type>DOCUMENTID</Type><InstanceIdentifier>urn:x::Invoice##c::2.1</InstanceIdentifier><Identifier>busdox-docid-qns</Identifier></Scope>'
  + '<Scope><Type>PROCESSID</Type><InstanceIdentifier>urn:process</InstanceIdentifier></Scope></BusinessScope>'
  + `</StandardBusinessDocumentHeader>${payload}</StandardBusinessDocument>`;

/** A business message of GS1 XML 3, as GDSN has it: the header is the first child of the message's own root. */
export const ownRoot = ({ first = '', last = '', ...header }: Parameters<typeof sbd>[0] & { first?: string; last?: string } = {}): string => {
  const [, inner = ''] = /(<StandardBusinessDocumentHeader>.*<\/StandardBusinessDocumentHeader>)/.exec(sbd({ authority: 'GS1', ...header })) ?? [];
  const prefixed = inner.replace(/<(\/?)/g, '<$1sh:');
  return `<g:itemMessage xmlns:g="urn:gs1:item" xmlns:sh="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader">${first}${prefixed}<transaction/>${last}</g:itemMessage>`;
};
