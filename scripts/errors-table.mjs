/** Writes docs/errors.md from src/errors.ts: `npm run errors` after `npm run build`. A test compares the two. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cell = (text) => text.replaceAll('|', '\\|');

/** The page, from the table of codes. */
export function renderErrors(table) {
  const rows = Object.entries(table).map(([code, { status, endpointStatus, ebms, advice }]) =>
    `| \`${code}\` | ${status}${endpointStatus === undefined ? '' : `, role endpoint ${endpointStatus}`} | ${ebms === undefined ? '' : `${ebms.code} ${ebms.short}`} | ${cell(advice)} |`);
  return [
    '# Error codes',
    '',
    'Generated from `src/errors.ts`; do not edit by hand (`npm run errors`).',
    '',
    'Each refusal and failure of as4-once has one of these codes. It stands in the log line (`code`), in `--json` output',
    'and in the text of plain answers. Where an ebMS error is named, the sender gets an ebMS Error SignalMessage of',
    'severity failure; otherwise a plain text body, so that no sender takes it for the last word on its message. Role',
    'endpoint signs its Errors.',
    '',
    '| code | HTTP status | ebMS error | what to do |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..');
  const { ERRORS } = await import(join(root, 'dist/src/errors.js'));
  writeFileSync(join(root, 'docs/errors.md'), renderErrors(ERRORS));
}
