import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A server process of a bench: started, waited for, ended by pid. */
export interface Server {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

const DIST = fileURLToPath(new URL('../../', import.meta.url));

/** Ended with the bench, also where it fails before it comes to stop them. */
const started = new Set<ChildProcess>();
process.once('exit', () => started.forEach((child) => child.kill('SIGTERM')));

/** Starts `dist/<script>`; `ready` finds the port (its first group) in what the process prints. */
export async function start(script: string, args: readonly string[], ready: RegExp): Promise<Server> {
  const child = spawn(process.execPath, [`${DIST}${script}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.add(child);
  const port = await printed(child, ready);
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}/as4`,
    stop: () => ended(child),
  };
}

function printed(child: ChildProcess, ready: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const look = (chunk: Buffer): void => {
      if (text.length < 100_000) text += chunk.toString();
      const found = ready.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
