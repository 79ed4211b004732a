import { As4OnceError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import { children, text } from '../xml/tree.js';
import type { XmlElement } from '../xml/tree.js';
import { NS } from './namespaces.js';

/** The element of that name in the ebMS namespace, or undefined; two of them are refused with HEADER_INVALID. */
export function only(parent: XmlElement, local: string, uri: string = NS.eb): XmlElement | undefined {
  let found: XmlElement | undefined;
  for (const node of parent.children) {
    if (node.kind !== 'element' || node.local !== local || node.uri !== uri) continue;
    if (found !== undefined) {
      const all = children(parent, uri, local).length;
      throw new As4OnceError('HEADER_INVALID', `${parent.local} holds ${all} ${local} elements`);
    }
    found = node;
  }
  return found;
}

/** Trimmed character data of that child; undefined where there is no such child. */
export function onlyText(parent: XmlElement, local: string): string | undefined {
  const found = only(parent, local);
  return found === undefined ? undefined : trimmedText(found);
}

/** Character data without the white space that pretty printing puts around it. */
export function trimmedText(element: XmlElement): string {
  return trim(text(element));
}

/** Without XML white space at either end; any other character counts. */
export function trim(value: string): string {
  let from = 0;
  let to = value.length;
  // by hand: a regular expression takes square time over a long run of blanks inside
  while (from < to && isSpace(value.charCodeAt(from))) from++;
  while (to > from && isSpace(value.charCodeAt(to - 1))) to--;
  return value.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
}

/**
 * Character data of an element that names something: text only, however it is cut up by comments, CDATA sections and
 * character references; not trimmed. Throws `code` where it is blank, holds an element, or is longer than `bytes` in
 * UTF-8.
 */
export function nameIn(element: XmlElement, bytes: number, code: ErrorCode): string {
  if (element.children.some((n) => n.kind === 'element')) {
    throw new As4OnceError(code, `${element.local} holds an element`);
  }
  const value = text(element);
  if (/^[ \t\r\n]*$/.test(value)) throw new As4OnceError(code, `${element.local} is empty`);
  return bounded(value, element.local, bytes, code);
}

export function bounded(value: string, what: string, bytes: number, code: ErrorCode): string {
  if (value.length > bytes || Buffer.byteLength(value) > bytes) {
    throw new As4OnceError(code, `${what} is longer than ${bytes} bytes`);
  }
  return value;
}

/** Builds an object without the members that are undefined. */
export function present<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  // A plain loop: this runs for every unit of every message, and entries made and filtered cost ten times as much.
  const out: Partial<T> = {};
  for (const name in members) {
    const value = members[name];
    if (value !== undefined) out[name] = value;
  }
  return out as T;
}
