import { z } from 'zod';
import { As4OnceError } from '../errors.js';
import { DURATION_FORMS, parseDuration } from '../policy/duration.js';
import { parseSize, SIZE_FORMS } from '../policy/size.js';
import { parseWindow } from '../policy/window.js';

/**
 * The kinds of values that the configuration knows. A file is read without guessing types (an id such as `0088123`
 * keeps its zeros), so numbers and booleans come as text there, and as themselves from a program that hands in an
 * object; both are taken. `as` in the metadata is the JSON Schema that an editor gets to see.
 */

/** A mapping without unknown keys. The message of an unknown key lists the known ones, for the typing aid. */
export function section<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(',') : undefined),
  });
}

/** Reads text by a function that throws As4OnceError; its detail becomes the problem. */
function read<T>(parse: (text: string) => T) {
  return (value: string | number, context: z.RefinementCtx): T => {
    try {
      return parse(String(value));
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof As4OnceError ? error.detail : String(error) });
      return z.NEVER;
    }
  };
}

const fromEnvironment = { type: 'string', pattern: '\\$\\{.+\\}' } as const;
const unit = (id: string, as: object) => ({ id, as });

const durationText = z.union([z.string(), z.literal(0)], { error: `must be a duration such as ${DURATION_FORMS}` });

/** ms. `0` needs no unit. */
export const duration = durationText.transform(read(parseDuration)).meta(unit('duration', {
  description: `A duration: ${DURATION_FORMS}.`,
  anyOf: [
    { type: 'string', pattern: '^(0|\\d+(\\.\\d+)? ?(ms|s|m|min|h|d|w|y)|P[0-9YMWDTHS.]+|.*\\$\\{.+\\}.*)$' },
    { const: 0 },
  ],
  examples: ['20s', '10m', '90d', '1y', 'P90D'],
}));

/** ms, more than zero. */
export const positiveDuration = durationText
  .transform(read((text) => atLeastOne(parseDuration(text), text)))
  .meta(unit('positiveDuration', {
    description: `A duration longer than zero: ${DURATION_FORMS}.`,
    type: 'string',
    examples: ['20s', '10m'],
  }));

/** ms and, from a P-Mode string, the log's maxsize in bytes. */
export const window = z.string().transform(read(parseWindow)).meta(unit('window', {
  description: 'A duplicate window: a duration, or the P-Mode string of AS4 5.2.4.',
  type: 'string',
  examples: ['90d', '1y', 'P90D', 'maxsize=10Mb,checkwindow=7D'],
}));

/** Bytes. */
export const size = z.union([z.string(), z.literal(0)], { error: `must be a size such as ${SIZE_FORMS}` })
  .transform(read((text) => atLeastOne(parseSize(text.replace(/\/s$/, '')), text)))
  .meta(unit('size', {
    description: `A size: ${SIZE_FORMS}.`,
    type: 'string',
    examples: ['1 MiB', '256 KiB', '8 GiB'],
  }));

/** A whole number. */
export function count(least: number, most: number) {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  return z.union([z.number(), z.string()], { error: `must be a whole number, ${range}` })
    .transform(read((text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
      if (value >= least && value <= most) return value;
      throw new As4OnceError('CONFIG_INVALID', `"${text}" is not a whole number, ${range}`);
    }))
    .meta({ as: { anyOf: [{ type: 'integer', minimum: least, maximum: most }, fromEnvironment] } });
}

export const onOff = z.union([z.boolean(), z.enum(['true', 'false'])], { error: 'must be true or false' })
  .transform((value) => value === true || value === 'true')
  .meta(unit('onOff', { anyOf: [{ type: 'boolean' }, fromEnvironment] }));

/** Text that is not empty. Numbers of an object that was handed in are refused: `0088` would have lost its zeros. */
export const text = z.string({ error: 'must be text (put it in quotes)' }).min(1, { error: 'must not be empty' });

/** One value or a list of them. Always a list afterwards. */
export function oneOrMore<T extends z.ZodType>(item: T) {
  return z.union([item, z.array(item).min(1, { error: 'must not be an empty list' })])
    .transform((value): z.output<T>[] => (Array.isArray(value) ? (value as z.output<T>[]) : [value as z.output<T>]));
}

/** A value that is never printed. */
export const secret = text.meta({ secret: true });

type SecretField<K extends string> =
  { [P in K]: z.ZodOptional<typeof secret> } & { [P in `${K}File`]: z.ZodOptional<typeof text> };

/** `name` and `nameFile`: the value itself, or the file it stands in (read at load, white space at its end removed). */
export function secretField<K extends string>(name: K, description: string) {
  const given = { [name]: secret.optional().describe(`${description} Never printed.`) };
  const file = { [`${name}File`]: text.optional().describe(`File that holds it: ${description}`) };
  return { ...given, ...file } as SecretField<K>;
}

/** A file or folder, relative to the configuration file. Stands as a FilePath until the loader has resolved it. */
export class FilePath {
  readonly relative: string;
  constructor(relative: string) {
    this.relative = relative;
  }
}

/** Typed as the string that it is by the time anybody sees it. */
export const path = text.transform((value): string => new FilePath(value) as unknown as string)
  .meta({ as: { type: 'string', minLength: 1 } });

export const httpUrl = text.transform(read((value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return value;
  throw new As4OnceError('CONFIG_INVALID', 'must be an http or https URL, such as http://127.0.0.1:8081/as4');
})).meta(unit('httpUrl', { type: 'string', examples: ['http://127.0.0.1:8081/as4'] }));

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, `:port` or `port`; a missing host is every interface. IPv6 in brackets. */
export const address = z.union([z.string(), z.number()], { error: 'must be host:port, such as 127.0.0.1:8080' })
  .transform(read(parseAddress))
  .meta(unit('address', {
    description: 'host:port to listen on; [::1]:8080 for IPv6.',
    type: 'string',
    examples: ['127.0.0.1:8080', '0.0.0.0:8080'],
  }));

function parseAddress(value: string): Address {
  const match = /^(?:(\[[0-9A-Fa-f:.]+\]|[^:[\]\s/]*):)?(\d{1,5})$/.exec(value.trim());
  const port = Number(match?.[2] ?? NaN);
  if (match === null || port > 65_535) {
    const how = 'write 127.0.0.1:8080, or [::1]:8080 for IPv6';
    throw new As4OnceError('CONFIG_INVALID', `"${value}" is not host:port; ${how}`);
  }
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' || host === '*' ? '0.0.0.0' : host, port };
}

function atLeastOne(value: number, written: string): number {
  if (value > 0) return value;
  throw new As4OnceError('CONFIG_INVALID', `"${written}" must be more than zero`);
}

/** Without the keys that were left out. */
export function present<T extends object>(given: T | undefined): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined)) as never;
}
