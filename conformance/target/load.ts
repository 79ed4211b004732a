import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { CommandCounter } from '../delivery/command.js';
import type { DeliveryCounter } from '../delivery/counter.js';
import { FolderCounter } from '../delivery/folder.js';
import { HttpSink } from '../delivery/sink.js';
import { Usage } from '../exit.js';
import { readIdentity } from '../keys.js';
import type { Identity } from '../keys.js';
import { agreementOf } from '../profile.js';
import type { Agreement, ProfileName } from '../profile.js';
import { runCommand } from './command.js';
import { targetSchema } from './schema.js';
import type { TargetFile } from './schema.js';
import { DEFAULT_TIMES, HOOKS } from './target.js';
import type { Capability, Claims, Hook, HookName, OtherSender, Target } from './target.js';

/** A clock hook makes any window testable; without it nobody wants to wait longer than this. */
const WINDOW_MAX_MS = 120_000;

export interface LoadOptions {
  /** Instead of the file's own. */
  readonly profile?: ProfileName | undefined;
  /** Hooks of a program that starts the target itself; they go before the file's commands. */
  readonly hooks?: Partial<Record<HookName, Hook>>;
}

/** Reads a target file. Throws Usage with file, line and path for everything that is wrong in it. */
export function loadTarget(path: string, options: LoadOptions = {}): Target {
  const text = readFileSync(path, 'utf8');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const broken = document.errors[0];
  if (broken !== undefined)
    throw new Usage(`${path}:${lines.linePos(broken.pos[0]).line}: ${broken.message.split('\n')[0]}`);
  const parsed = targetSchema.safeParse(document.toJS());
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => {
      const where = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
      return `${path}:${lineOf(document, lines, where)}: ${where.join('.') || 'the file'}: ${issue.message}`;
    });
    throw new Usage(wrong.join('\n'));
  }
  const at = (...where: string[]) => `${path}:${lineOf(document, lines, where)}: ${where.join('.')}`;
  return build(
    { ...parsed.data, profile: options.profile ?? parsed.data.profile },
    dirname(resolve(path)),
    at,
    options.hooks ?? {},
  );
}

function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true) as { range?: [number, number, number] } | undefined;
    if (node?.range !== undefined) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

type At = (...where: string[]) => string;

function build(file: TargetFile, folder: string, at: At, given: Partial<Record<HookName, Hook>>): Target {
  const times = { ...DEFAULT_TIMES, ...definedOnly(file.times) };
  const identity = file.keys.sign === undefined ? undefined : identityAt(file.keys.sign, folder, at('keys', 'sign'));
  const encryptFor = certificateAt(file.keys.encryptFor, folder, at('keys', 'encryptFor'));
  const hooks: Partial<Record<HookName, Hook>> = {};
  for (const name of HOOKS) {
    const command = file.hooks[name];
    if (command !== undefined) {
      hooks[name] = async (argument) =>
        void (await runCommand(argument === undefined ? command : [...command, String(argument)], folder, times.hook));
    }
  }
  Object.assign(hooks, given);
  const base: Omit<Target, 'capabilities'> = {
    name: file.name,
    version: file.version,
    notes: file.notes,
    urls: [new URL(file.url), ...(file.urls ?? []).map((url) => new URL(url))],
    profile: file.profile,
    agreement: agreement(file),
    identity,
    otherSender: otherSender(file, folder, at('keys', 'otherSender')),
    encryptFor,
    receiptSigner: certificateAt(file.keys.receiptSigner, folder, at('keys', 'receiptSigner')),
    tlsCa: file.keys.tlsCa === undefined ? undefined : read(file.keys.tlsCa, folder, at('keys', 'tlsCa')),
    openDelivery: delivery(file, folder, times.hook),
    hooks,
    times,
    claims: definedOnly(file.claims) as Claims,
    largest: file.accepts.largest ?? 0,
  };
  return { ...base, capabilities: capabilitiesOf(base, file) };
}

function capabilitiesOf(target: Omit<Target, 'capabilities'>, file: TargetFile): ReadonlySet<Capability> {
  const { hooks, claims } = target;
  const sink = file.delivery !== undefined && 'http' in file.delivery;
  const window = claims.window !== undefined && (claims.window <= WINDOW_MAX_MS || hooks.clock !== undefined);
  const has: Readonly<Record<Capability, boolean>> = {
    delivery: target.openDelivery !== undefined,
    signing: target.identity !== undefined,
    encryption: target.encryptFor !== undefined,
    'signature-required': file.accepts.unsigned === false,
    restart: hooks.restart !== undefined,
    kill: hooks.kill !== undefined,
    'backend-fail': sink || (hooks.backendFail !== undefined && hooks.backendNormal !== undefined),
    'backend-slow': sink || (hooks.backendSlow !== undefined && hooks.backendNormal !== undefined),
    store: hooks.storeDown !== undefined && hooks.storeUp !== undefined,
    window,
    'second-url': target.urls.length > 1,
    'other-sender': target.otherSender !== undefined,
    ping: file.accepts.ping === true,
    soap11: file.accepts.soap11 === true,
    bare: file.accepts.bare === true,
    uncompressed: file.accepts.uncompressed === true,
    'many-payloads': file.accepts.payloads === true,
    compressed: file.accepts.compressed === true,
    large: target.largest > 0,
  };
  return new Set((Object.keys(has) as Capability[]).filter((name) => has[name]));
}

function agreement(file: TargetFile): Agreement {
  const preset = agreementOf(file.profile, file.parties.from.id, file.parties.to.id);
  return {
    ...preset,
    ...definedOnly({
      service: file.service,
      serviceType: file.serviceType,
      action: file.action,
      agreement: file.agreement,
    }),
    from: { ...preset.from, ...definedOnly(file.parties.from) },
    to: { ...preset.to, ...definedOnly(file.parties.to) },
    properties:
      file.properties?.map(({ name, value, type }) => (type === undefined ? { name, value } : { name, value, type })) ??
      preset.properties,
  };
}

function delivery(file: TargetFile, folder: string, limitMs: number): (() => Promise<DeliveryCounter>) | undefined {
  const how = file.delivery;
  if (how === undefined) return undefined;
  if ('folder' in how) return async () => new FolderCounter(resolve(folder, how.folder));
  if ('command' in how) return async () => new CommandCounter(how.command, folder, limitMs);
  const colon = how.http.listen.lastIndexOf(':');
  const host = how.http.listen.slice(0, colon).replace(/^\[|\]$/g, '');
  return async () =>
    await HttpSink.open({
      host,
      port: Number(how.http.listen.slice(colon + 1)),
      accept: how.http.accept,
      refuse: how.http.refuse,
    });
}

function otherSender(file: TargetFile, folder: string, at: string): OtherSender | undefined {
  const given = file.keys.otherSender;
  if (given === undefined) return undefined;
  if ((given.key === undefined) !== (given.cert === undefined)) throw new Usage(`${at}: key and cert go together`);
  const identity =
    given.key === undefined || given.cert === undefined
      ? undefined
      : identityAt({ key: given.key, cert: given.cert }, folder, at);
  return { party: given.party, identity };
}

function identityAt(
  given: { key: string; cert: string; passphrase?: string | undefined },
  folder: string,
  at: string,
): Identity {
  try {
    return readIdentity(read(given.key, folder, at), read(given.cert, folder, at), given.passphrase);
  } catch (error) {
    throw error instanceof Usage
      ? error
      : new Usage(`${at}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function certificateAt(path: string | undefined, folder: string, at: string): X509Certificate | undefined {
  if (path === undefined) return undefined;
  try {
    return new X509Certificate(read(path, folder, at));
  } catch (error) {
    throw error instanceof Usage ? error : new Usage(`${at}: ${path} is no certificate in PEM or DER`);
  }
}

function read(path: string, folder: string, at: string): string {
  try {
    return readFileSync(resolve(folder, path), 'utf8');
  } catch (error) {
    throw new Usage(`${at}: ${(error as Error).message}`);
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function definedOnly<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}
