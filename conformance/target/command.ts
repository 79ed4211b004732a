import { execFile } from 'node:child_process';

const OUTPUT_MAX = 16 * 1024 * 1024;

/** A command of the target file ended badly; the message has its last words. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Runs a program with arguments (no shell) in `folder` and returns what it wrote. Ends it after `limitMs`. */
export async function runCommand(command: readonly string[], folder: string, limitMs: number): Promise<string> {
  const [program = '', ...args] = command;
  const options = { cwd: folder, timeout: limitMs, maxBuffer: OUTPUT_MAX, killSignal: 'SIGKILL' } as const;
  return await new Promise<string>((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const words = (stderr.trim() || error.message).slice(-500);
      const why = error.killed === true ? `not finished after ${limitMs} ms` : words;
      reject(new CommandFailed(`${command.join(' ')}: ${why}`));
    });
  });
}
