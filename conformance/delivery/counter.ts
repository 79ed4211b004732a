/**
 * Counts what reached the business application behind the target. Every payload of the suite carries a token of its
 * own; a delivery is anything that holds it.
 */
export interface DeliveryCounter {
  /** How often the payload with this token was delivered, as far as can be seen now. */
  count(token: string): Promise<number>;
  /** For reports: where deliveries are looked for. */
  readonly place: string;
  /** Present where the suite itself plays the backend. */
  readonly backend?: BackendControl;
  close(): Promise<void>;
}

export interface BackendControl {
  /** Refuses every delivery from now on. */
  fail(): void;
  /** Accepts, but only after so many milliseconds. */
  slow(ms: number): void;
  normal(): void;
}

export const TOKEN_PATTERN = /as4c-[0-9a-f]{24}/g;

/** The tokens in a delivered content. */
export function tokensIn(content: Buffer): Set<string> {
  return new Set(content.toString('latin1').match(TOKEN_PATTERN) ?? []);
}
