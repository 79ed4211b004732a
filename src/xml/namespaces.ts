import { attributeValue } from './canonical.js';

/** The namespace of the prefix `xml`, which needs no declaration (Namespaces in XML 1.0, 3). */
export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/** A declaration on an element: [prefix or '', namespace name or '']. */
export type NamespaceDeclaration = readonly [prefix: string, uri: string];

/**
 * The namespaces that prefixes stand for at one place of a document (Namespaces in XML 1.0, 2 to 6). A look costs the
 * same however deep the place is and however much is declared above it.
 */
export class Namespaces {
  /** Outermost first; with the length that canonical form writes. */
  readonly #bound = new Map<string, (readonly [uri: string, written: number])[]>([['xml', [[XML_NAMESPACE, 0]]]]);
  #written = 0;

  /** Length of all namespace names that were asked for, each as often as it was, as canonical form writes them. */
  get written(): number {
    return this.#written;
  }

  /** The namespace name, '' for no prefix and none declared; undefined for an unknown prefix. */
  uriOf(prefix: string): string | undefined {
    const found = this.#bound.get(prefix)?.at(-1);
    if (found === undefined) return prefix === '' ? '' : undefined;
    this.#written += found[1];
    return found[0];
  }

  /**
   * Whether the declaration may be made (3, "Reserved Prefixes and Namespace Names", and "No Prefix Undeclaring"). A
   * name with white space around it may not: some readers trim it and so see another namespace than the rest.
   */
  static allows([prefix, uri]: NamespaceDeclaration): boolean {
    if (uri !== uri.trim()) return false;
    if (prefix === 'xml') return uri === XML_NAMESPACE;
    return prefix !== 'xmlns' && uri !== XML_NAMESPACE && uri !== XMLNS_NAMESPACE && (prefix === '' || uri !== '');
  }

  enter(declarations: readonly NamespaceDeclaration[]): void {
    for (const [prefix, uri] of declarations) {
      const name = [uri, attributeValue(uri).length] as const;
      const names = this.#bound.get(prefix);
      if (names === undefined) {
        this.#bound.set(prefix, [name]);
      } else {
        names.push(name);
      }
    }
  }

  /** Leaves the element that made these declarations. */
  leave(declarations: readonly NamespaceDeclaration[]): void {
    for (const [prefix] of declarations) this.#bound.get(prefix)?.pop();
  }
}
