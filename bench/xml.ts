import { SaxesParser } from 'saxes';
import { as4Message } from '../test/support/messages.js';
import { sender } from '../test/endpoint/identities.js';
import { LIMITS } from '../src/limits.js';
import { As4OnceError } from '../src/errors.js';
import { as4Protocol } from '../src/ebms/as4.js';
import { parseXml } from '../src/xml/parse.js';

/**
 * The reader of envelopes: a real envelope against the events of saxes, without any tree made of them; and documents of
 * 1 MiB that were slow once, against one of plain text of the same length. Prints ratios of CPU time, medians of seven.
 *
 *   node dist/bench/xml.js
 */
const MIB = 1 << 20;
const options = { maxBytes: MIB, depth: LIMITS.depth, uniqueIds: true };

/** CPU µs of one call, median of seven runs. */
function costOf(run: () => void, times: number): number {
  const costs = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < times; i++) run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / times;
  });
  return costs.toSorted((a, b) => a - b)[3] ?? Number.NaN;
}

async function envelope(): Promise<Buffer> {
  const { body, contentType } = as4Message({ signer: sender, payloads: [Buffer.alloc(100, 'x')] });
  const reading = as4Protocol.open({ headers: [['Content-Type', contentType]], target: '/as4' }, LIMITS);
  await reading.push(body);
  await reading.end();
  return Buffer.from(reading.root ?? []);
}

function read(bytes: Uint8Array): void {
  try {
    parseXml(bytes, options);
  } catch (error) {
    if (!(error instanceof As4OnceError)) throw error;
  }
}

const root = await envelope();
const text = root.toString();
const ours = (): void => read(root);
const theirs = (): void => void new SaxesParser({ xmlns: true }).write(text).close();
for (const run of [ours, theirs]) costOf(run, 1_000);
const events = costOf(theirs, 500);
const tree = costOf(ours, 500);
process.stdout.write(`an envelope of ${root.length} bytes: ${tree.toFixed(0)} us, ${(tree / events).toFixed(2)} of saxes' events alone\n`);

const body = (inside: string): string => `<s:E xmlns:s="urn:s"><s:Body>${inside}</s:Body></s:E>`;
const id = 'y'.repeat(100);
const many = Array.from({ length: 990 }, (_, i) => ` a${i}="${'y'.repeat(99)}z"`).join('');
const SLOW_ONCE: Readonly<Record<string, string>> = {
  'nothing but &': `<a>${'&'.repeat(1_000_000)}</a>`,
  'one id 8,000 times': body(`<a id="${id}"/>`.repeat(8_000)),
  'one id 8,000 times, the first among 990 attributes': body(`<a id="${id}"${many}/>${`<a id="${id}"/>`.repeat(8_000)}`),
  'elements, each in its turn': `<r>${'<a/>'.repeat(260_000)}</r>`,
};
const plain = Buffer.from(`<a>${'x'.repeat(1_000_000)}</a>`);
const least = costOf(() => read(plain), 5);
for (const [name, xml] of Object.entries(SLOW_ONCE)) {
  const bytes = Buffer.from(xml);
  const cost = costOf(() => read(bytes), 1);
  process.stdout.write(`  ${name.padEnd(52)} ${(cost / 1_000).toFixed(0)} ms, ${(cost / least).toFixed(0)} times 1 MiB of text\n`);
}
