import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../src/cli/main.js';

/**
 * A million ids into the embedded ledger with `as4-once import --write`, in its own process as a user runs it, and the
 * same again as an import that was interrupted at its end would be. The baseline writes the same file's bytes to the
 * same disk and syncs it: what the disk alone takes. `--ids N` changes the number.
 */
const asked = process.argv.indexOf('--ids');
const ids = asked === -1 ? 1_000_000 : Number(process.argv[asked + 1]);

const folder = mkdtempSync(join(tmpdir(), 'as4-once-bench-import-'));
try {
  const file = join(folder, 'ids.jsonl');
  await writeIds(file);
  writeFileSync(join(folder, 'front.yaml'), 'role: front\nlisten: 127.0.0.1:8080\nupstream: http://127.0.0.1:8081/as4\naccessPoint: phase4\nledger: { embedded: ./ledger }\n');
  const disk = await seconds(() => copySynced(file, join(folder, 'copy')));
  print('baseline: the file written and synced', disk, '');
  const cpuBefore = process.cpuUsage();
  const first = await run('--write');
  const cpu = process.cpuUsage(cpuBefore);
  print('import --write', first, `${rate(first)}, CPU ${(cpu.user / ids).toFixed(1)} + ${(cpu.system / ids).toFixed(1)} µs per id (user + system), ledger ${mib(join(folder, 'ledger/data.mdb'))}`);
  const again = await run('--write');
  print('the same again (resume)', again, rate(again));
  process.stdout.write(`${first < 300 ? 'within' : 'OVER'} the five minutes of the target; peak RSS ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB, the mapped file of the ledger included\n`);
  if (first >= 300 && ids >= 1_000_000) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function writeIds(file: string): Promise<void> {
  const out = createWriteStream(file);
  for (let i = 0; i < ids; i += 1) {
    const line = { messageId: `${String(i).padStart(8, '0')}-7c41-4b61-9b1b-3f0c2d9e4a55@as4.example.org`, from: `POP${String(i % 400).padStart(6, '0')}`, firstSeen: Date.now() - 60_000 - i };
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

async function run(...options: string[]): Promise<number> {
  return await seconds(async () => {
    const code = await main(['import', join(folder, 'ids.jsonl'), '--config', join(folder, 'front.yaml'), ...options], {
      out: () => undefined, err: (text) => void process.stderr.write(text), tty: false, env: {},
    });
    if (code !== 0) throw new Error(`import ended with ${code}`);
  });
}

async function copySynced(from: string, to: string): Promise<void> {
  const [source, target] = [await open(from, 'r'), await open(to, 'w')];
  for await (const chunk of source.createReadStream() as AsyncIterable<Buffer>) await target.write(chunk);
  await target.sync();
  await target.close();
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

function print(what: string, took: number, more: string): void {
  process.stdout.write(`${what.padEnd(42)} ${took.toFixed(1).padStart(7)} s  ${more}\n`);
}

function rate(took: number): string {
  return `${Math.round(ids / took).toLocaleString('en')} ids/s`;
}

function mib(file: string): string {
  return `${Math.round(statSync(file).size / 1024 / 1024)} MiB`;
}
