/** What the file system says of a path that is not there, or that is there already. */

export function missing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

export function exists(error: unknown): boolean {
  return codeOf(error) === 'EEXIST';
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The result, or undefined where the path is not there. */
export async function ifThere<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}
