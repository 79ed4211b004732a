import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** A name resolved to its namespace. `prefix` is kept for reports only. */
export interface XmlElement {
  readonly ns: string;
  readonly local: string;
  readonly prefix: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly (XmlElement | string)[];
}

export interface XmlAttribute {
  readonly ns: string;
  readonly local: string;
  readonly value: string;
}

/** The document is not what a SOAP receiver or sender may put on the wire; the message says why. */
export class XmlRefused extends Error {
  override readonly name = 'XmlRefused';
}

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';
/** Bytes of one document, and its nesting: an answer is never larger than this in honest traffic. */
const BYTES_MAX = 4 * 1024 * 1024;
const DEPTH_MAX = 64;

/** The parser renames elements that are called like a property of every object; no SOAP element is. */
const RENAMED = new RegExp(`<(?:[^\\s<>/:]+:)?(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})[\\s/>]`);

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  allowBooleanAttributes: false,
  removeNSPrefix: false,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  htmlEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: false,
  cdataPropName: '#cdata',
  commentPropName: '#comment',
  maxNestedTags: DEPTH_MAX,
});

/**
 * Reads one document strictly. fast-xml-parser knows no namespaces and lets ill-formed text through, so what it does
 * not check is checked here: encoding, DOCTYPE, processing instructions, control characters, entities, prefixes, roots.
 */
export function readXml(source: Uint8Array | string): XmlElement {
  const text = typeof source === 'string' ? source : decode(source);
  if (text.length > BYTES_MAX) throw new XmlRefused('the document is larger than 4 MiB');
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) throw new XmlRefused('a control character');
  if (text.includes('<!DOCTYPE')) throw new XmlRefused('a DOCTYPE');
  const instruction = /<\?(?!xml[\s?])/.exec(text);
  if (instruction !== null) throw new XmlRefused('a processing instruction');
  // the parser drops text after the root without a word
  if (text.slice(text.lastIndexOf('>') + 1).trim() !== '') throw new XmlRefused('text after the root element');
  if (RENAMED.test(text)) throw new XmlRefused('an element called like a property of every object');
  const valid = XMLValidator.validate(text);
  if (valid !== true) throw new XmlRefused(`not well-formed: ${valid.err.msg} (line ${valid.err.line})`);
  let nodes: unknown;
  try {
    nodes = parser.parse(text);
  } catch (error) {
    throw new XmlRefused(`not readable: ${error instanceof Error ? error.message : String(error)}`);
  }
  const roots = resolve(nodes, { xml: XML }).filter((node) => typeof node !== 'string' || node.trim() !== '');
  const root = roots[0];
  if (roots.length !== 1 || root === undefined || typeof root === 'string')
    throw new XmlRefused('not exactly one root element');
  return root;
}

function decode(bytes: Uint8Array): string {
  try {
    // the decoder drops a byte order mark, which the eDelivery profile wants tolerated
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new XmlRefused('the bytes are not UTF-8');
  }
}

type Scope = Readonly<Record<string, string>>;

function resolve(nodes: unknown, scope: Scope): (XmlElement | string)[] {
  if (!Array.isArray(nodes)) return [];
  const found: (XmlElement | string)[] = [];
  for (const node of nodes as Record<string, unknown>[]) {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined || name === '#comment') continue;
    if (name === '#text') found.push(unescape(String(node[name])));
    else if (name === '#cdata') found.push(textOf(node[name]));
    else found.push(element(name, node, scope));
  }
  return found;
}

function textOf(nodes: unknown): string {
  const found = Array.isArray(nodes) ? (nodes as Record<string, unknown>[]) : [];
  return found.map((node) => (typeof node['#text'] === 'string' ? node['#text'] : '')).join('');
}

function element(name: string, node: Record<string, unknown>, outer: Scope): XmlElement {
  const given = Object.entries((node[':@'] ?? {}) as Record<string, unknown>).map(
    ([key, value]) => [key, unescape(String(value))] as const,
  );
  const scope: Record<string, string> = { ...outer };
  for (const [key, value] of given) {
    if (key === 'xmlns') scope[''] = value;
    else if (key.startsWith('xmlns:')) {
      if (value === '') throw new XmlRefused(`prefix ${key.slice(6)} is bound to nothing`);
      scope[key.slice(6)] = value;
    }
  }
  const attributes: XmlAttribute[] = [];
  const seen = new Set<string>();
  for (const [key, value] of given) {
    if (key === 'xmlns' || key.startsWith('xmlns:')) {
      attributes.push({ ns: XMLNS, local: key, value });
      continue;
    }
    const { prefix, local } = split(key);
    const ns = prefix === '' ? '' : lookUp(prefix, scope);
    if (seen.has(`${ns} ${local}`)) throw new XmlRefused(`attribute ${local} twice on ${name}`);
    seen.add(`${ns} ${local}`);
    attributes.push({ ns, local, value });
  }
  const { prefix, local } = split(name);
  const ns = prefix === '' ? (scope[''] ?? '') : lookUp(prefix, scope);
  return { ns, local, prefix, attributes, children: resolve(node[name], scope) };
}

function split(name: string): { prefix: string; local: string } {
  const [first = '', second, ...more] = name.split(':');
  if (more.length > 0) throw new XmlRefused(`the name ${name} has two colons`);
  return second === undefined ? { prefix: '', local: first } : { prefix: first, local: second };
}

function lookUp(prefix: string, scope: Scope): string {
  const ns = Object.hasOwn(scope, prefix) ? scope[prefix] : undefined;
  if (ns === undefined) throw new XmlRefused(`prefix ${prefix} is not declared`);
  return ns;
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescape(text: string): string {
  if (text.includes(']]>')) throw new XmlRefused(']]> in text');
  return text.replace(/&(#x[0-9a-fA-F]+|#[0-9]+|[A-Za-z][\w.-]*)?;?/g, (whole, name: string | undefined) => {
    if (name === undefined || !whole.endsWith(';')) throw new XmlRefused('a raw ampersand');
    if (!name.startsWith('#')) {
      const value = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
      if (value === undefined) throw new XmlRefused(`the entity &${name};`);
      return value;
    }
    const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
    const allowed =
      code === 9 ||
      code === 10 ||
      code === 13 ||
      (code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
    if (!allowed) throw new XmlRefused(`the character reference &${name};`);
    return String.fromCodePoint(code);
  });
}

/** Child elements with this name, in order. */
export function childrenOf(parent: XmlElement, ns: string, local: string): XmlElement[] {
  return parent.children.filter(
    (node): node is XmlElement => typeof node !== 'string' && node.ns === ns && node.local === local,
  );
}

/** The only child element with this name; undefined when there is none or more than one. */
export function onlyChild(parent: XmlElement | undefined, ns: string, local: string): XmlElement | undefined {
  if (parent === undefined) return undefined;
  const found = childrenOf(parent, ns, local);
  return found.length === 1 ? found[0] : undefined;
}

export function attributeOf(element: XmlElement | undefined, ns: string, local: string): string | undefined {
  return element?.attributes.find((attribute) => attribute.ns === ns && attribute.local === local)?.value;
}

/** Text of an element without child elements; undefined when it has some. */
export function plainText(element: XmlElement | undefined): string | undefined {
  const texts = element?.children.filter((node) => typeof node === 'string');
  return element === undefined || texts?.length !== element.children.length ? undefined : texts.join('');
}

/** Every element below and including `root`, in document order. */
export function* everyElement(root: XmlElement): Generator<XmlElement> {
  yield root;
  for (const node of root.children) if (typeof node !== 'string') yield* everyElement(node);
}

export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' })[sign] ?? sign);
}

export function escapeAttribute(text: string): string {
  return escapeText(text).replace(
    /["\t\n]/g,
    (sign) => ({ '"': '&quot;', '\t': '&#x9;', '\n': '&#xA;' })[sign] ?? sign,
  );
}
