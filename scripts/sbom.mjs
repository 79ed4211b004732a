// Writes reports/sbom.cdx.json (CycloneDX), or the file that is named: the packages that run, by the lockfile, without asking any registry. npm does the work.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = process.argv[2] ?? join(root, 'reports/sbom.cdx.json');
const npm = process.env.npm_execpath;
const [command, first] = npm === undefined ? [process.platform === 'win32' ? 'npm.cmd' : 'npm', []] : [process.execPath, [npm]];
const { status, stdout, stderr } = spawnSync(command, [...first, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline'], {
  cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, shell: npm === undefined && process.platform === 'win32',
});
if (status !== 0) {
  process.stderr.write(`sbom: npm could not make it\n${stderr}`);
  process.exit(1);
}
// `npm sbom --omit dev` also leaves out what runs and is besides wanted by a tool (yaml), so the tools are taken out here
const bill = JSON.parse(stdout);
const tool = ({ properties = [] }) => properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
const tools = new Set(bill.components.filter(tool).map((component) => component['bom-ref']));
bill.components = bill.components.filter((component) => !tools.has(component['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => !tools.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => !tools.has(other)) }));
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, `${JSON.stringify(bill, undefined, 2)}\n`);
process.stdout.write(`${out}: ${bill.components.length} packages\n`);
