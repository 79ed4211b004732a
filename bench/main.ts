import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `npm run bench -- NAME [options]`: one bench, or all of them. Each prints ratios against a baseline of the same run.
 * On another Node: `npm exec --yes --package=node@24 -- node dist/bench/main.js NAME`.
 */
const BENCHES = {
  front: 'replay and first delivery of the front, against a program without a ledger',
  endpoint: 'verify, decrypt and sign, against the machine\'s own RSA ceiling',
  memory: '50 messages of 100 MB at once; 5,000 copies of one slow id',
  xml: 'the reader of envelopes, against the events of saxes; documents that were slow once',
  edi: 'a 100 MB interchange, against a loop that only finds terminators',
  storm: '14,000 copies of 200 messages into the folder and into the HTTP door',
  import: 'a million ids into the embedded ledger',
} as const;

const [name, ...options] = process.argv.slice(2);
const chosen = name === undefined ? Object.keys(BENCHES) : [name];
for (const bench of chosen) {
  const script = fileURLToPath(new URL(`./${bench}.js`, import.meta.url));
  if (!Object.hasOwn(BENCHES, bench) || !existsSync(script)) {
    process.stderr.write(`no bench '${bench}'. There are:\n${Object.entries(BENCHES).map(([b, what]) => `  ${b.padEnd(9)} ${what}\n`).join('')}`);
    process.exit(2);
  }
  process.stdout.write(`\n== ${bench}: ${BENCHES[bench as keyof typeof BENCHES]}\n`);
  const { status } = spawnSync(process.execPath, [script, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
