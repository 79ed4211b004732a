import { createHash } from 'node:crypto';
import type { StoredBody } from '../delivery/port.js';
import { BusinessDocumentReader, type SbdHeader } from '../edi/sbdh.js';
import { As4OnceError } from '../errors.js';
import type { PayloadSink } from '../security/payload.js';
import { BusinessKeyReader, type BusinessKey } from './business-keys.js';

/** A stored payload, and what was seen of it on its way into the spool. */
export interface StudiedBody extends StoredBody {
  /** SHA-256 of the plain payload, hex. */
  readonly sha256: string;
  /** The header of a Standard Business Document; why it cannot be read; absent where the payload is something else. */
  readonly sbdh?: SbdHeader | As4OnceError;
  /** Business keys, where somebody asked for them (`payloadKeys`). */
  readonly business?: readonly BusinessKey[];
}

/** A header that has not ended by then is none that anybody wrote in earnest, bytes. */
const LONGEST_HEADER = 1024 * 1024;
/** The root element tells most payloads apart, and the reader reads all that it is given: so little at first. */
const FIRST_LOOK = 512;

/**
 * Looks at a payload while it is written: its digest, and its SBDH until the business message begins. What it says is
 * worth no more than the payload, and nobody asks before that is proven.
 */
export class StudyingSink implements PayloadSink {
  readonly #sink: PayloadSink;
  readonly #hash = createHash('sha256');
  #reader: BusinessDocumentReader | undefined = new BusinessDocumentReader();
  #read = 0;
  #sbdh: SbdHeader | As4OnceError | undefined;

  readonly #business: BusinessKeyReader | undefined;

  /** `business`: read business keys too; it costs the reading of the whole payload. */
  constructor(sink: PayloadSink, business = false) {
    this.#sink = sink;
    this.#business = business ? new BusinessKeyReader() : undefined;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    for (let at = 0, look = FIRST_LOOK; this.#reader !== undefined && at < chunk.length; at += look, look *= 2) {
      this.#study(this.#reader, chunk.subarray(at, at + look));
    }
    this.#business?.push(chunk);
    await this.#sink.write(chunk);
  }

  async finish(): Promise<StudiedBody> {
    const reader = this.#reader;
    if (reader !== undefined) this.#conclude(reader, () => reader.end().header ?? 'none');
    const body = await this.#sink.finish();
    const sbdh = this.#sbdh;
    const business = this.#business?.end();
    return {
      length: body.length,
      ...(body.bytes === undefined ? {} : { bytes: body.bytes }),
      stream: () => body.stream(),
      dispose: () => body.dispose(),
      sha256: this.#hash.digest('hex'),
      ...(sbdh === undefined ? {} : { sbdh }),
      ...(business === undefined ? {} : { business }),
    };
  }

  async discard(): Promise<void> {
    await this.#sink.discard();
  }

  #study(reader: BusinessDocumentReader, chunk: Uint8Array): void {
    const piece = chunk.subarray(0, LONGEST_HEADER - this.#read);
    this.#read += piece.length;
    this.#conclude(reader, () => {
      reader.push(piece);
      const early = reader.early;
      if (early === undefined && this.#read >= LONGEST_HEADER) {
        throw new As4OnceError('SBDH_BROKEN', `a header of more than ${LONGEST_HEADER} bytes`);
      }
      return early;
    });
  }

  /** Takes a verdict, if there is one. Faults of what is no SBDH at all are nobody's business here. */
  #conclude(reader: BusinessDocumentReader, verdict: () => SbdHeader | 'none' | undefined): void {
    try {
      const answer = verdict();
      if (answer === undefined) return;
      if (answer !== 'none') this.#sbdh = answer;
    } catch (error) {
      if (!(error instanceof As4OnceError)) throw error;
      if (reader.headed) this.#sbdh = error;
    }
    this.#reader = undefined;
  }
}
