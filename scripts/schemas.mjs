// Writes the JSON Schemas that are generated from the code into schemas/; with --check it only compares, and fails on
// drift. Needs a build (npm run build).
import { readFile, writeFile } from 'node:fs/promises';
import { generatedSchemas } from '../dist/src/config/generated-schemas.js';

const check = process.argv.includes('--check');
let drift = 0;
for (const [name, text] of generatedSchemas()) {
  const file = new URL(`../schemas/${name}`, import.meta.url);
  const standing = await readFile(file, 'utf8').catch(() => '');
  if (standing === text) continue;
  drift += 1;
  if (check) console.error(`schemas/${name} is not what the code says: run npm run build && npm run schemas`);
  else await writeFile(file, text);
}
if (check && drift > 0) process.exitCode = 1;
else if (!check) console.log(drift === 0 ? 'schemas/ is up to date' : `schemas/: ${drift} written`);
