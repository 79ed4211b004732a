import type { Limits } from '../limits.js';
import { attribute, children } from '../xml/tree.js';
import type { XmlElement } from '../xml/tree.js';
import { only, onlyText, present, trimmedText } from './elements.js';
import { NS } from './namespaces.js';
import { readReference } from './signature-info.js';
import type { EbmsError, SignalMessage } from './units.js';
import { readMessageInfo } from './user-message.js';

const KINDS = ['PullRequest', 'Receipt', 'Error'] as const;

/** Reads eb:SignalMessage (ebMS 3.0 Core 5.2.3). Throws HEADER_INVALID or MESSAGE_ID_INVALID. */
export function readSignalMessage(element: XmlElement, limits: Limits): SignalMessage {
  const pull = only(element, 'PullRequest');
  const receipt = only(element, 'Receipt');
  return present<SignalMessage>({
    type: 'SignalMessage',
    ...readMessageInfo(element, limits),
    kinds: KINDS.filter((kind) => children(element, NS.eb, kind).length > 0),
    receipt: receipt && readReceipt(receipt),
    errors: children(element, NS.eb, 'Error').map(readError),
    pullMpc: pull && attribute(pull, '', 'mpc'),
    element,
  });
}

/** The ds:References of a Receipt's NonRepudiationInformation (ebBP signals 2.0, AS4 5.1.8). */
function readReceipt(receipt: XmlElement): NonNullable<SignalMessage['receipt']> {
  const nri = only(receipt, 'NonRepudiationInformation', NS.ebbpsig);
  if (nri === undefined) return {};
  const parts = children(nri, NS.ebbpsig, 'MessagePartNRInformation');
  return { nri: parts.flatMap((part) => children(part, NS.ds, 'Reference').map(readReference)) };
}

/** eb:Error (Core 6.2). */
function readError(error: XmlElement): EbmsError {
  return present<EbmsError>({
    code: attribute(error, '', 'errorCode') ?? '',
    severity: attribute(error, '', 'severity') ?? '',
    category: attribute(error, '', 'category'),
    shortDescription: attribute(error, '', 'shortDescription'),
    description: onlyText(error, 'Description'),
    detail: onlyText(error, 'ErrorDetail'),
    refToMessageInError: attribute(error, '', 'refToMessageInError'),
  });
}

/** The MessageId of a UserMessage that a Receipt without NonRepudiationInformation copies (AS4 5.1.8), if any. */
export function copiedUserMessage(receipt: XmlElement): { readonly messageId?: string } | undefined {
  const copy = firstBelow(receipt, NS.eb, 'UserMessage');
  if (copy === undefined) return undefined;
  const id = firstBelow(copy, NS.eb, 'MessageId');
  return id === undefined ? {} : { messageId: trimmedText(id) };
}

function firstBelow(element: XmlElement, uri: string, local: string): XmlElement | undefined {
  for (const node of element.children) {
    if (node.kind !== 'element') continue;
    if (node.uri === uri && node.local === local) return node;
    const found = firstBelow(node, uri, local);
    if (found !== undefined) return found;
  }
  return undefined;
}
