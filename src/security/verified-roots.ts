import { hash } from 'node:crypto';
import type { AnswerIn, Early } from '../protocol.js';

/** What a root part was found to say, when its signature was verified. */
export interface VerifiedRoot {
  readonly early: Extract<Early, { kind: 'message' }>;
  readonly answerIn: AnswerIn;
  /** When that was, and until when the certificates bear it, epoch ms. */
  readonly verified: number;
  readonly until: number;
}

/** Bytes of the roots that are remembered, which bound what is kept of them. */
const BYTES = 8 * 1024 * 1024;

/**
 * Root parts that were verified a while ago, by the SHA-256 of their bytes: the very bytes again have the very verdict,
 * under the P-Modes of one configuration and as long as the certificates are valid. So a copy as it came before is not
 * parsed, and not verified, a second time. Only what was verified comes in, so that nobody without a key can push
 * anything out.
 */
export class VerifiedRoots {
  readonly #roots = new Map<string, VerifiedRoot & { readonly bytes: number }>();
  #bytes = 0;

  /** `charset` as the part's head says it, since it decides what the bytes say. */
  static nameOf(root: Uint8Array, charset: string | undefined): string {
    return `${hash('sha256', root, 'base64url')} ${charset ?? ''}`;
  }

  find(name: string, now: number): VerifiedRoot | undefined {
    const found = this.#roots.get(name);
    return found !== undefined && found.verified <= now && now <= found.until ? found : undefined;
  }

  add(name: string, root: VerifiedRoot, bytes: number): void {
    this.#forget(name);
    this.#roots.set(name, { ...root, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#roots.keys()) {
      if (this.#bytes <= BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#roots.get(name)?.bytes ?? 0;
    this.#roots.delete(name);
  }
}
