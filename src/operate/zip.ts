import { crc32, deflateRawSync } from 'node:zlib';

/** One file of an archive. Names are ours: relative, with `/`, without `..`. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** 2.0: deflate. */
const NEEDED = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** Made on Unix, so that the mode below is read. */
const MADE_BY = (3 << 8) | NEEDED;
const MODE = (0o100644 << 16) >>> 0;
const MOST = 0xffff_ffff;

/**
 * A ZIP archive (PKWARE APPNOTE 6.3, without ZIP64): enough for a handful of files under 4 GiB together, each deflated
 * unless that does not help. `at` is the time of every entry.
 */
export function zip(entries: readonly ZipEntry[], at: Date): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const [method, data] = packed.length < bytes.length ? [8, packed] : [0, Buffer.from(bytes)];
    const path = Buffer.from(name);
    const common = head({ method, at, crc: crc32(bytes), packed: data.length, size: bytes.length, path: path.length });
    const local = Buffer.concat([u32(LOCAL), u16(NEEDED), common, path, data]);
    directory.push(
      Buffer.concat([
        u32(CENTRAL),
        u16(MADE_BY),
        u16(NEEDED),
        common,
        u16(0),
        u16(0),
        u16(0),
        u32(MODE),
        u32(offset),
        path,
      ]),
    );
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  if (offset + central.length > MOST || entries.length > 0xffff)
    throw new RangeError('too much for an archive without ZIP64');
  const count = u16(entries.length);
  return Buffer.concat([
    ...parts,
    central,
    u32(END),
    u16(0),
    u16(0),
    count,
    count,
    u32(central.length),
    u32(offset),
    u16(0),
  ]);
}

interface Head {
  readonly method: number;
  readonly at: Date;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly path: number;
}

/** What a local and a central header share: flags, method, time, CRC, sizes, length of the name, no extra field. */
function head({ method, at, crc, packed, size, path }: Head): Buffer {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = (Math.max(0, at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return Buffer.concat([
    u16(FLAGS),
    u16(method),
    u16(time),
    u16(date),
    u32(crc),
    u32(packed),
    u32(size),
    u16(path),
    u16(0),
  ]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
