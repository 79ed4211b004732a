import { As4OnceError } from '../errors.js';
import type { HeaderList } from '../exchange.js';

/** Where a value stands in a request: exactly one of these is given. */
export interface Extraction {
  /** Name of a header field. */
  readonly header?: string | undefined;
  /** JSON pointer into the body (RFC 6901). */
  readonly pointer?: string | undefined;
  /** Elements of an XML body from the root down by local name, `/Order/Header/Id`; the last step may be `@name`. */
  readonly path?: string | undefined;
  /** Name of a query parameter. */
  readonly query?: string | undefined;
  /** A fixed value. */
  readonly value?: string | undefined;
}

/** What can be read before the body: undefined where the extraction needs the body, or where nothing is there. */
export function fromHead(extraction: Extraction, headers: HeaderList, target: string): string | undefined {
  if (extraction.value !== undefined) return extraction.value;
  if (extraction.header !== undefined) {
    const wanted = extraction.header.toLowerCase();
    return sole(headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value.trim()), `header ${extraction.header}`);
  }
  if (extraction.query !== undefined) {
    const mark = target.indexOf('?');
    const parameters = new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1));
    return sole(parameters.getAll(extraction.query), `query parameter ${extraction.query}`);
  }
  return undefined;
}

export function needsBody({ pointer, path }: Extraction): boolean {
  return pointer !== undefined || path !== undefined;
}

/** A value that is given twice could be read either way by whoever stands behind us, so it is refused. */
export function sole(values: readonly string[], what: string): string | undefined {
  const different = new Set(values);
  if (different.size > 1) {
    throw new As4OnceError('REFERENCE_MISSING', `${what} stands there ${values.length} times, with different values`);
  }
  return values[0] === '' ? undefined : values[0];
}
