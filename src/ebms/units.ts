import type { Party } from '../message.js';
import type { XmlDocument, XmlElement } from '../xml/tree.js';

/** The message units of eb:Messaging (ebMS 3.0 Core 5.2), as read from one envelope. */

export interface UserMessage {
  readonly type: 'UserMessage';
  readonly messageId: string;
  readonly timestamp: string;
  readonly refToMessageId?: string;
  readonly mpc?: string;
  readonly from: { readonly ids: readonly Party[]; readonly role?: string };
  readonly to: { readonly ids: readonly Party[]; readonly role?: string };
  readonly agreement?: { readonly value: string; readonly type?: string; readonly pmode?: string };
  readonly service: { readonly value: string; readonly type?: string };
  readonly action: string;
  readonly conversationId: string;
  readonly messageProperties: readonly Property[];
  readonly payloads: readonly PartInfo[];
  readonly element: XmlElement;
}

export interface Property {
  readonly name: string;
  readonly value: string;
  readonly type?: string;
}

export interface PartInfo {
  /** `cid:…`, `#id`, another URL, or absent for the SOAP Body. */
  readonly href?: string;
  readonly properties: readonly Property[];
}

export interface SignalMessage {
  readonly type: 'SignalMessage';
  readonly messageId: string;
  readonly timestamp: string;
  readonly refToMessageId?: string;
  readonly kinds: readonly ('PullRequest' | 'Receipt' | 'Error')[];
  /** Present where there is an eb:Receipt. */
  readonly receipt?: {
    /** ds:References inside NonRepudiationInformation; undefined where there is no NRI. */
    readonly nri?: readonly DigestReference[];
  };
  readonly errors: readonly EbmsError[];
  readonly pullMpc?: string;
  readonly element: XmlElement;
}

export interface EbmsError {
  readonly code: string;
  readonly severity: string;
  readonly category?: string;
  readonly shortDescription?: string;
  readonly description?: string;
  readonly detail?: string;
  readonly refToMessageInError?: string;
}

export interface DigestReference {
  readonly uri: string;
  readonly digestMethod: string;
  /** Base64 as written, white space removed. */
  readonly digestValue: string;
}

export interface SignatureInfo {
  readonly signatureMethod: string;
  readonly c14n: string;
  readonly references: readonly DigestReference[];
  readonly signatureValue: string;
  /** DER of the certificate the signature names by BinarySecurityToken, if embedded. */
  readonly certificate?: Uint8Array;
  readonly element: XmlElement;
}

export interface Envelope {
  readonly soap: '1.1' | '1.2';
  readonly document: XmlDocument;
  /** eb:Messaging child of the SOAP Header, if any. */
  readonly messaging?: XmlElement;
  readonly userMessage?: UserMessage;
  readonly signals: readonly SignalMessage[];
  readonly signatures: readonly SignatureInfo[];
  readonly header?: XmlElement;
  readonly body?: XmlElement;
  /** The SOAP Body holds xenc:EncryptedData. */
  readonly bodyEncrypted: boolean;
  readonly fault?: string;
}
