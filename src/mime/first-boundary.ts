/**
 * The boundary of a MIME package whose media type is not known, from its first line that is not blank: `--boundary`.
 * Undefined where that line is something else.
 */
export function firstBoundary(bytes: Uint8Array): string | undefined {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (bytes[at] === 0x0d || bytes[at] === 0x0a || bytes[at] === 0x20 || bytes[at] === 0x09) at++;
  // An indented delimiter is none.
  if (at > 0 && (bytes[at - 1] === 0x20 || bytes[at - 1] === 0x09)) return undefined;
  const line = Buffer.from(bytes.subarray(at, at + 300)).toString('latin1').split('\n', 1)[0]!;
  const found = /^--([\x20-\x7e]{1,200}?)[ \t]*\r?$/.exec(line);
  return found?.[1];
}
