/**
 * Names of XML 1.0 (fifth edition, 2.3) as Namespaces in XML 1.0 (3, 4) cuts them: NCName, or two of them with a colon
 * between.
 */

const START = 'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f'
  + '\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
const NC_NAME = `[${START}][${START}\\-.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040]*`;
const Q_NAME = new RegExp(`(?:${NC_NAME}:)?${NC_NAME}`, 'uy');

/** ASCII characters a name may begin with (1) and go on with (1 and 2). */
const ASCII = new Uint8Array(128);
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') ASCII[c.charCodeAt(0)] = 1;
for (const c of '-.0123456789') ASCII[c.charCodeAt(0)] = 2;
const COLON = 0x3a;

/** Where the name that begins at `from` ends; `from` itself where none begins there. */
export function endOfName(text: string, from: number): number {
  const end = endOfAscii(text, from);
  // nearly every name is ASCII, with or without a prefix; what else there is the grammar decides
  if (end === from || text.charCodeAt(end) > 127) return endOfAny(text, from);
  if (text.charCodeAt(end) !== COLON) return end;
  const last = endOfAscii(text, end + 1);
  return last === end + 1 || text.charCodeAt(last) > 127 ? endOfAny(text, from) : last;
}

function endOfAscii(text: string, from: number): number {
  if (ASCII[text.charCodeAt(from)] !== 1) return from;
  let at = from + 1;
  // beyond the table and beyond the text this reads undefined
  while (ASCII[text.charCodeAt(at)]! > 0) at++;
  return at;
}

function endOfAny(text: string, from: number): number {
  Q_NAME.lastIndex = from;
  return Q_NAME.test(text) ? Q_NAME.lastIndex : from;
}
