import { createHash } from 'node:crypto';
import type { Config } from './config.js';

const HIDDEN = '***';
/** Shorter ones would tear unrelated words apart inside a text; nothing that short protects anything. */
const SHORT = 4;
const SECRET_KEYS: ReadonlySet<string> = new Set(['token', 'password', 'passphrase']);

/** What came from the environment or from files, by its Config. Not a property of it: it must not be printed. */
const secretsOf = new WeakMap<Config, readonly string[]>();

/** Values that came from the environment or from files, and what each is shown as. */
export type Secrets = ReadonlyMap<string, string>;

export function rememberSecrets(config: Config, secrets: Iterable<string>): void {
  secretsOf.set(config, [...secrets]);
}

/**
 * A copy that may be printed: without passwords and tokens, without user information in URLs, and without anything that
 * came from the environment or from a file, wherever it stands.
 */
export function redact(config: Config): unknown {
  const secrets = secretsOf.get(config) ?? [];
  return copied(config, (text) => hide(withoutUserInfo(text), secrets));
}

/**
 * SHA-256 (hex) of the configuration in force, equal on two nodes that decide alike. Secrets do not enter it: a digest
 * is shown, and a short password could be guessed from it. Neither does the node's own name.
 */
export function configDigest(config: Config): string {
  const { node: _, ...rest } = config;
  return createHash('sha256').update(JSON.stringify(sorted(copied(rest, withoutUserInfo)))).digest('hex');
}

/** Takes every secret out of a text, for what must be said about a value that may hold one. */
export function scrub(text: string, secrets: Secrets): string {
  const longestFirst = [...secrets].sort(([a], [b]) => b.length - a.length);
  return longestFirst.reduce((clean, [secret, shown]) =>
    secret.length < SHORT ? clean.replaceAll(`"${secret}"`, shown) : clean.replaceAll(secret, shown), text);
}

function hide(text: string, secrets: readonly string[]): string {
  if (secrets.includes(text)) return HIDDEN;
  const long = secrets.filter((secret) => secret.length >= SHORT);
  return long.reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), text);
}

/** A Redis URL may also carry its password in the query. */
function withoutUserInfo(text: string): string {
  const clean = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${HIDDEN}@`);
  return /^rediss?:/i.test(clean) ? clean.replace(/[?#].*$/s, `?${HIDDEN}`) : clean;
}

function copied(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => copied(item, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]): [string, unknown] =>
    [key, SECRET_KEYS.has(key) && typeof item === 'string' ? HIDDEN : copied(item, clean)]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
