/** Exit codes of every command. */
export const EXIT = {
  /** Everything passed, or every copy got its Receipt. */
  ok: 0,
  /** A requirement failed, a known failure passed, or a copy got no Receipt. */
  failed: 1,
  /** The command line, the target file or another file given is wrong. */
  usage: 2,
  /** A fault in the suite itself. */
  fault: 3,
} as const;

/** The command line is wrong: the message, then how it is used. */
export class Usage extends Error {
  override readonly name = 'Usage';
  readonly help: string;
  constructor(message: string, help = '') {
    super(message);
    this.help = help;
  }
}

/** Where a command writes; a stream, or a test's buffer. */
export interface Output {
  write(text: string): void;
  readonly isTTY?: boolean;
}
