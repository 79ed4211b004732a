import { InterchangeReader } from '../src/edi/reader.js';

/**
 * Envelope reading against the least that any reader must do: a loop that only finds terminators with Buffer.indexOf,
 * over the same 64 KiB chunks of the same 100 MB interchange, in the same run, turn about. Prints ratios (1 = as fast
 * as the loop) and how far RSS grew while reading. `--mb N` changes the size.
 */
const MB = 1024 * 1024;
const asked = process.argv.indexOf('--mb');
const size = (asked === -1 ? 100 : Number(process.argv[asked + 1])) * MB;
const CHUNK = 64 * 1024;
const ROUNDS = 5;

interface Sample {
  readonly name: string;
  readonly terminator: string;
  readonly head: string;
  /** One message, repeated. */
  readonly message: string;
  readonly tail: (messages: number) => string;
}

const SAMPLES: readonly Sample[] = [
  {
    name: 'EDIFACT',
    terminator: "'",
    head: "UNA:+.? '\r\nUNB+UNOC:3+4012345000009:14+4012345000016:14+240229:1305+REF1++ORDERS'\r\n",
    message: `UNH+1+ORDERS:D:96A:UN:EAN008'\r\n${"LIN+1++4000862141404:EN'\r\nIMD+F++:::Fruit tea?, 20 bags'\r\nQTY+21:48:PCE'\r\nPRI+AAA:1.99:::1:PCE'\r\n".repeat(25)}UNT+102+1'\r\n`,
    tail: (messages) => `UNZ+${messages}+REF1'\r\n`,
  },
  {
    name: 'X12',
    terminator: '~',
    head: 'ISA*00*          *00*          *01*049351117      *ZZ*RECEIVER       *240229*1305*^*00501*000000001*0*P*:~\nGS*PO*049351117*RECEIVER*20240229*1305*1*X*005010~\n',
    message: `ST*850*0001~\n${'PO1*1*48*EA*1.99*PE*UP*400086214140*VN*12345~\nPID*F****FRUIT TEA, 20 BAGS~\nSAC*A*C310***1234**5**02***DISCOUNT~\n'.repeat(33)}SE*101*0001~\n`,
    tail: (messages) => `GE*${messages}*1~\nIEA*1*000000001~\n`,
  },
];

/** The chunks of an interchange of about `size` bytes; whole messages, so that every count is right. */
function* chunks(sample: Sample): Iterable<Buffer> {
  const perChunk = Math.max(1, Math.floor(CHUNK / sample.message.length));
  const block = Buffer.from(sample.message.repeat(perChunk));
  const blocks = Math.ceil(size / block.length);
  yield Buffer.from(sample.head);
  for (let i = 0; i < blocks; i += 1) yield block;
  yield Buffer.from(sample.tail(blocks * perChunk));
}

function loop(sample: Sample): number {
  const terminator = sample.terminator.charCodeAt(0);
  let found = 0;
  for (const chunk of chunks(sample)) {
    for (let at = chunk.indexOf(terminator); at !== -1; at = chunk.indexOf(terminator, at + 1)) found += 1;
  }
  return found;
}

function read(sample: Sample, digest: boolean): number {
  let findings = -1;
  const reader = new InterchangeReader({ digest, onInterchange: (one) => { findings = one.findings.length; } });
  for (const chunk of chunks(sample)) reader.push(chunk);
  reader.end();
  return findings;
}

function seconds(action: () => void): number {
  const began = performance.now();
  action();
  return (performance.now() - began) / 1_000;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

console.log(`envelope reading of ${size / MB} MB in ${CHUNK / 1024} KiB chunks, Node ${process.version}, median of ${ROUNDS} rounds`);
for (const sample of SAMPLES) {
  const times = { loop: [] as number[], read: [] as number[], digest: [] as number[] };
  const segments = loop(sample);
  read(sample, true);
  global.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  for (let round = 0; round < ROUNDS; round += 1) {
    times.loop.push(seconds(() => loop(sample)));
    times.read.push(seconds(() => read(sample, false)));
    times.digest.push(seconds(() => read(sample, true)));
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  const base = median(times.loop);
  const line = (name: string, time: number): string => `${name} ${(time * 1_000).toFixed(0)} ms (${(base / time).toFixed(2)} of the loop, ${(size / MB / time).toFixed(0)} MB/s)`;
  console.log(`${sample.name}: ${segments} segments, loop ${(base * 1_000).toFixed(0)} ms; ${line('envelope', median(times.read))}; ${line('with SHA-256', median(times.digest))}; RSS ${((peak - before) / MB).toFixed(1)} MB up`);
}
