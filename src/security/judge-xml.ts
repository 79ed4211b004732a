import { XMLParser, XMLValidator } from 'fast-xml-parser';

/**
 * The judge's own reading of XML, over fast-xml-parser and nothing of src/xml, so that a fault there cannot hide here.
 * That parser knows no namespaces and lets ill-formed text through; what it lets through is refused around it.
 */
export interface JudgedElement {
  readonly uri: string;
  readonly local: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly elements: readonly JudgedElement[];
  readonly text: string;
}

export class NotJudged extends Error {}

const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

const parser = new XMLParser({
  preserveOrder: true, ignoreAttributes: false, attributeNamePrefix: '', allowBooleanAttributes: false,
  removeNSPrefix: false, parseTagValue: false, parseAttributeValue: false, trimValues: false, processEntities: false,
  htmlEntities: false, ignoreDeclaration: true, ignorePiTags: false, cdataPropName: '#cdata',
  commentPropName: '#comment', maxNestedTags: MAX_DEPTH, stopNodes: [], unpairedTags: [],
});

/** Reads one document. Attribute names are `{uri}local`, or `local` without namespace. Throws NotJudged. */
export function readJudged(text: string): JudgedElement {
  if (text.length > MAX_LENGTH) throw new NotJudged('the document is larger than 4 MiB');
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) throw new NotJudged('a control character');
  if (/<!DOCTYPE/i.test(text)) throw new NotJudged('a DOCTYPE');
  if (/<\?(?!xml[\s?])/.test(text) || text.lastIndexOf('<?') > 0) throw new NotJudged('a processing instruction');
  const valid = XMLValidator.validate(text);
  if (valid !== true) throw new NotJudged(`not well-formed: ${valid.err.msg}`);
  let nodes: unknown;
  try {
    nodes = parser.parse(text);
  } catch (error) {
    throw new NotJudged(`not readable: ${error instanceof Error ? error.message : String(error)}`);
  }
  const found = content(nodes, new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]));
  const [root, ...others] = found.elements;
  if (root === undefined || others.length > 0 || found.text.trim() !== '') {
    throw new NotJudged('not exactly one root element');
  }
  return root;
}

type Scope = ReadonlyMap<string, string>;

function content(nodes: unknown, scope: Scope): { elements: JudgedElement[]; text: string } {
  if (!Array.isArray(nodes)) throw new NotJudged('not readable');
  const elements: JudgedElement[] = [];
  let text = '';
  for (const node of nodes as Record<string, unknown>[]) {
    for (const [name, value] of Object.entries(node)) {
      if (name === ':@' || name === '#comment') continue;
      if (name === '#text') text += decoded(String(value));
      else if (name === '#cdata') text += (value as { '#text'?: string }[]).map((t) => t['#text'] ?? '').join('');
      else elements.push(element(name, (node[':@'] ?? {}) as Record<string, string>, value, scope));
    }
  }
  return { elements, text };
}

function element(name: string, given: Record<string, string>, inner: unknown, outer: Scope): JudgedElement {
  const scope = new Map(outer);
  const plain: [string, string][] = [];
  for (const [key, raw] of Object.entries(given)) {
    const value = decoded(raw.replace(/[\t\n\r]/g, ' '));
    if (key === 'xmlns') scope.set('', value);
    else if (key.startsWith('xmlns:')) scope.set(key.slice(6), value);
    else plain.push([key, value]);
  }
  const attributes = new Map<string, string>();
  for (const [key, value] of plain) {
    const { uri, local } = resolve(key, scope, false);
    const expanded = uri === '' ? local : `{${uri}}${local}`;
    if (attributes.has(expanded)) throw new NotJudged(`attribute ${expanded} twice`);
    attributes.set(expanded, value);
  }
  return { ...resolve(name, scope, true), attributes, ...content(inner, scope) };
}

function resolve(name: string, scope: Scope, element: boolean): { uri: string; local: string } {
  const at = name.indexOf(':');
  const prefix = at < 0 ? '' : name.slice(0, at);
  const uri = at < 0 && !element ? '' : scope.get(prefix);
  if (uri === undefined && prefix !== '') throw new NotJudged(`prefix ${prefix} is not declared`);
  return { uri: uri ?? '', local: name.slice(at + 1) };
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(text: string): string {
  if (text.includes(']]>')) throw new NotJudged('a bare ]]>');
  return text.replace(/&([^;&]*;?)/g, (_whole, reference: string) => {
    const number = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));$/.exec(reference);
    if (number !== null) {
      const point = number[1] === undefined ? Number(number[2]) : parseInt(number[1], 16);
      if (point === 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
        throw new NotJudged(`character reference ${point}`);
      }
      return String.fromCodePoint(point);
    }
    const named = reference.endsWith(';') ? NAMED[reference.slice(0, -1)] : undefined;
    if (named === undefined) throw new NotJudged('an entity that is not declared');
    return named;
  });
}

/** Child elements of that name, one after the other. */
export function judgedChildren(of: JudgedElement, uri: string, local: string): JudgedElement[] {
  return of.elements.filter((e) => e.uri === uri && e.local === local);
}

/** The only child of that name. Throws NotJudged where there is none or more than one. */
export function judgedChild(of: JudgedElement, uri: string, local: string): JudgedElement {
  const [one, ...more] = judgedChildren(of, uri, local);
  if (one === undefined || more.length > 0) throw new NotJudged(`${of.local} has not exactly one ${local}`);
  return one;
}
