import { As4OnceError } from '../errors.js';
import { canonicalize } from '../xml/canonical.js';
import { isId, type XmlElement } from '../xml/tree.js';
import type { PayloadPlan } from './part-info.js';

/**
 * The payloads that stand in the SOAP Body (ebMS Core 5.2.2.12): a PartInfo without href means what the Body holds, one
 * with `#id` an element within it. A Receipt says that everything which was listed has arrived, so what cannot be found,
 * or is no XML document by itself, is refused with VALUE_INCONSISTENT.
 */
export function bodyPayloads(body: XmlElement, plans: readonly PayloadPlan[]): ReadonlyMap<PayloadPlan, XmlElement> {
  const found = new Map<PayloadPlan, XmlElement>();
  const listed = plans.filter((plan) => plan.contentId === undefined);
  if (listed.length === 0) return found;
  const ids = idsWithin(body);
  const taken = new Set<XmlElement>();
  for (const plan of listed) {
    const element = plan.href === undefined ? documentIn(body) : ids.get(plan.href.slice(1));
    if (element === undefined || element === 'several') {
      throw new As4OnceError('VALUE_INCONSISTENT', `PartInfo ${(plan.href ?? '').slice(0, 200)} is not one element of the SOAP Body`);
    }
    if (taken.has(element)) throw new As4OnceError('VALUE_INCONSISTENT', `two PartInfos for ${element.name.slice(0, 200)} of the SOAP Body`);
    taken.add(element);
    found.set(plan, element);
  }
  return found;
}

/** The one element that the Body holds. */
function documentIn(body: XmlElement): XmlElement {
  const [element, ...more] = body.children.filter((node) => node.kind === 'element' || (node.kind === 'text' && node.value.trim() !== ''));
  if (element?.kind === 'element' && more.length === 0) return element;
  throw new As4OnceError('VALUE_INCONSISTENT', 'a PartInfo means the SOAP Body, which does not hold exactly one element');
}

function idsWithin(body: XmlElement): ReadonlyMap<string, XmlElement | 'several'> {
  const ids = new Map<string, XmlElement | 'several'>();
  const waiting = [...body.children];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.kind !== 'element') continue;
    for (const id of new Set(node.attributes.filter(isId).map(({ value }) => value))) ids.set(id, ids.has(id) ? 'several' : node);
    for (const inner of node.children) waiting.push(inner);
  }
  return ids;
}

/**
 * The element as a document of its own, in canonical form. Names may stand in values too (xsi:type, XPath), where
 * exclusive form does not see them: so what is declared within the element stays, and of what is declared around it
 * whatever may be meant by a value. Comments were never signed and are left out.
 */
export function writtenOut(element: XmlElement): string {
  const prefixes = new Set<string>(['']);
  const named = new Set<string>();
  const look = (value: string): void => {
    for (const before of value.split(':').slice(0, -1)) named.add(lastName(before));
  };
  const waiting = [element];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const [prefix] of at.declarations) prefixes.add(prefix);
    for (const { value } of at.attributes) look(value);
    for (const node of at.children) {
      if (node.kind === 'element') waiting.push(node);
      else if (node.kind === 'text') look(node.value);
    }
  }
  for (let at = element.parent; at !== undefined; at = at.parent) {
    for (const [prefix] of at.declarations) if (named.has(prefix)) prefixes.add(prefix);
  }
  return canonicalize(element, { inclusivePrefixes: [...prefixes] });
}

/** The end of the text up to which a name may reach back: by hand, since a regular expression takes square time. */
function lastName(text: string): string {
  let from = text.length;
  while (from > 0 && !NO_NAME.test(text.charAt(from - 1))) from--;
  return text.slice(from);
}

const NO_NAME = /[\s"'=<>()[\]{},;/@|+*!$&]/;
