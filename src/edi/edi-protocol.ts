import { createHash } from 'node:crypto';
import { As4OnceError } from '../errors.js';
import type { Message } from '../message.js';
import type { Protocol, Read } from '../protocol.js';
import { EdiBroken, strictFinding, type Checks } from './broken.js';
import { decodedReading } from './decoded-body.js';
import type { Interchange } from './interchange.js';
import { messageOf, sbdhMessage } from './message-of.js';
import { InterchangeReader } from './reader.js';
import { BusinessDocumentReader, type BusinessDocument } from './sbdh.js';

/** How the counts and references of a message's envelope are judged; asked when the message is known. Default `warn`. */
export interface EdiProtocolOptions {
  readonly checks?: (message: Message) => Checks;
}

/** What an EDI or SBDH request was read as, for whoever delivers it. */
export type EdiContent = { readonly interchange: Interchange } | { readonly document: BusinessDocument };

/** One EDIFACT interchange as the body of a request. */
export function edifactProtocol(options: EdiProtocolOptions = {}): Protocol {
  return interchangeProtocol('edifact', options);
}

/** One X12 interchange as the body of a request. */
export function x12Protocol(options: EdiProtocolOptions = {}): Protocol {
  return interchangeProtocol('x12', options);
}

/** One Standard Business Document as the body of a request. */
export function sbdhProtocol(): Protocol {
  return {
    name: 'sbdh',
    open: ({ headers }, limits) => {
      const reader = new BusinessDocumentReader(limits);
      const hash = createHash('sha256');
      const push = (bytes: Uint8Array): void => {
        hash.update(bytes);
        reader.push(bytes);
      };
      const end = (): Read => {
        const document = reader.end();
        if (document.header === undefined) {
          throw new As4OnceError('SBDH_BROKEN', `no StandardBusinessDocument but ${document.root.slice(0, 80)}`);
        }
        return { kind: 'message', message: sbdhMessage(document.header, hash.digest('hex')), bundled: false, content: { document } satisfies EdiContent };
      };
      return decodedReading(headers, limits, 'sbdh', { push, end });
    },
  };
}

function interchangeProtocol(syntax: 'edifact' | 'x12', { checks = () => 'warn' }: EdiProtocolOptions): Protocol {
  return {
    name: syntax,
    open: ({ headers }, limits) => {
      let interchange: Interchange | undefined;
      const onInterchange = (one: Interchange): void => {
        // each interchange has its own key and its own acknowledgement; one response cannot carry two
        if (interchange !== undefined) {
          throw new EdiBroken('a second interchange in one request', { segment: 1, tag: '', offset: one.start });
        }
        interchange = one;
      };
      const reader = new InterchangeReader({ syntax, onInterchange });
      const end = (): Read => {
        reader.end();
        if (interchange === undefined) throw new As4OnceError('INTERNAL', 'a reader that ended without an interchange');
        const message = messageOf(interchange);
        const refused = strictFinding(interchange.findings, checks(message));
        if (refused !== undefined) throw new EdiBroken(refused.text, refused);
        return { kind: 'message', message, bundled: false, content: { interchange } satisfies EdiContent };
      };
      return decodedReading(headers, limits, syntax, { push: (bytes) => reader.push(bytes), end });
    },
  };
}
