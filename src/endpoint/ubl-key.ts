import { XmlStream, type XmlEvents, type XmlTag } from '../edi/sbdh-stream.js';
import { LIMITS } from '../limits.js';
import type { BusinessKey, KeyReader } from './business-keys.js';

const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const BASIC = `${UBL}CommonBasicComponents-2`;

/** Who gives a document its number (UBL 2.1): the element that names that party, by the document's root. */
const SENDERS: ReadonlyMap<string, string> = new Map([
  ['Invoice', 'AccountingSupplierParty'], ['CreditNote', 'AccountingSupplierParty'], ['DebitNote', 'AccountingSupplierParty'],
  ['SelfBilledInvoice', 'AccountingCustomerParty'], ['SelfBilledCreditNote', 'AccountingCustomerParty'],
  ['Order', 'BuyerCustomerParty'], ['OrderChange', 'BuyerCustomerParty'], ['OrderCancellation', 'BuyerCustomerParty'],
  ['OrderResponse', 'SellerSupplierParty'], ['OrderResponseSimple', 'SellerSupplierParty'], ['Quotation', 'SellerSupplierParty'],
  ['DespatchAdvice', 'DespatchSupplierParty'], ['ReceiptAdvice', 'DeliveryCustomerParty'], ['Reminder', 'AccountingSupplierParty'],
]);

/**
 * Number (cbc:ID) and sender (EndpointID, otherwise PartyIdentification) of a UBL document, bare or below an SBDH, while it
 * arrives. Stops at what it needs. Throws SBDH_BROKEN for what is no XML.
 */
export class UblReader implements KeyReader, XmlEvents {
  readonly #xml = new XmlStream(this, LIMITS.depth);
  readonly #path: string[] = [];
  #root = '';
  /** Depth of the document's own root, 0 before it. */
  #at = 0;
  #number: string | undefined;
  #sender: { readonly value: string; readonly type: string } | undefined;
  #second: { readonly value: string; readonly type: string } | undefined;
  #left = false;
  #take: ((text: string) => void) | undefined;

  /** Once the sender's element is closed nothing behind it matters. */
  get done(): boolean {
    return this.#number !== undefined && (this.#sender !== undefined || this.#left);
  }

  push(chunk: Uint8Array): void {
    this.#xml.push(chunk);
  }

  end(): readonly BusinessKey[] {
    const sender = this.#sender ?? this.#second;
    if (this.#number === undefined || this.#number === '' || sender === undefined || sender.value === '') return [];
    return [{ kind: 'ubl', reference: `${this.#root} ${this.#number}`, parties: [sender] }];
  }

  open(tag: XmlTag, depth: number): boolean {
    this.#path.length = depth - 1;
    this.#path.push(tag.local);
    if (this.#at === 0) {
      if (depth <= 2 && tag.uri.startsWith(UBL) && SENDERS.has(tag.local)) {
        this.#at = depth;
        this.#root = tag.local;
      }
      return false;
    }
    if (tag.uri !== BASIC) return false;
    if (depth === this.#at + 1 && tag.local === 'ID' && this.#number === undefined) {
      this.#take = (text) => {
        this.#number = text;
      };
      return true;
    }
    return this.#insideSender(tag);
  }

  closed(text: string, depth: number): void {
    this.#take?.(text.trim());
    this.#take = undefined;
    this.left(depth);
  }

  left(depth: number): void {
    if (depth === this.#at + 1 && this.#path[depth - 1] === SENDERS.get(this.#root)) this.#left = true;
  }

  #insideSender(tag: XmlTag): boolean {
    const way = this.#path.slice(this.#at).join('/');
    const party = `${SENDERS.get(this.#root)}/Party`;
    const type = tag.attribute('schemeID') ?? '';
    if (way === `${party}/EndpointID` && this.#sender === undefined) {
      this.#take = (value) => {
        this.#sender = { value, type };
      };
      return true;
    }
    if (way !== `${party}/PartyIdentification/ID` || this.#second !== undefined) return false;
    this.#take = (value) => {
      this.#second = { value, type };
    };
    return true;
  }
}
