import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { startProcess, type OwnedProcess } from './owned-process.js';

/** The project's root folder. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A built entry point, such as `dist/src/cli/main.js`; throws one clear sentence where the build is missing. */
export function built(entry: string): string {
  const path = join(ROOT, entry);
  if (!existsSync(path)) throw new Error(`${entry} is not built; run \`node scripts/prepare.mjs\` first`);
  return path;
}

export interface ChildOptions {
  readonly cwd?: string;
  /** Added to this process' environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Options of node itself, such as `--cpu-prof`. */
  readonly node?: readonly string[];
}

/** Runs a built entry point with this very Node as a process of its own. */
export function startNode(entry: string, args: readonly string[] = [], options: ChildOptions = {}): Promise<OwnedProcess> {
  return startProcess(process.execPath, [...(options.node ?? []), built(entry), ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
  });
}

/**
 * `as4-once <args>` as a process of its own. With `ready`, resolves when that was printed and gives the match (a
 * listening line, say); rejects with everything printed when the process ends before.
 */
export async function startCli(
  args: readonly string[], options: ChildOptions & { readonly ready?: RegExp } = {},
): Promise<OwnedProcess & { readonly ready: RegExpMatchArray | undefined }> {
  const child = await startNode('dist/src/cli/main.js', args, options);
  try {
    const ready = options.ready === undefined ? undefined : await child.waitFor(options.ready);
    return Object.assign(child, { ready });
  } catch (error) {
    await child.kill();
    throw error;
  }
}

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `as4-once <args>` to its end. */
export async function runCli(args: readonly string[], options: ChildOptions = {}): Promise<Ran> {
  return runNode('dist/src/cli/main.js', args, options);
}

/** Any built entry point to its end. */
export async function runNode(entry: string, args: readonly string[] = [], options: ChildOptions = {}): Promise<Ran> {
  const child = await startNode(entry, args, options);
  const { code, signal } = await child.ended;
  return { code, signal, stdout: child.stdout(), stderr: child.stderr() };
}
