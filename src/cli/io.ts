/** What a command may touch of the terminal it runs in; handed in, so that a test reads what a user would. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** Colour and progress only where a person looks. */
  readonly tty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  tty: process.stderr.isTTY === true,
  env: process.env,
};

/** Exit codes of every command (documented in `as4-once --help`). */
export const EXIT = {
  ok: 0,
  /** The thing asked for is not so: not found, not allowed, refused, mismatch. */
  no: 1,
  /** Wrong command line or configuration. */
  usage: 2,
  /** A fault of ours. */
  fault: 70,
  /** The ledger cannot be reached; try again. */
  unavailable: 75,
} as const;
