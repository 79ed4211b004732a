/** Programs that the tests run against, found on the PATH or installed through the system's own package manager. */
import { spawnSync } from 'node:child_process';

const PROGRAMS = {
  redis: {
    title: 'redis-server 7.0 or newer',
    commands: ['redis-server'],
    /** Redis 7 is the first one whose scripts may settle on a full server (allow-oom). */
    fits: (version) => Number(version.match(/v=(\d+)\./)?.[1] ?? 0) >= 7,
    packages: { 'apt-get': 'redis-server', dnf: 'redis', yum: 'redis', apk: 'redis', zypper: 'redis', pacman: 'redis', brew: 'redis' },
    purpose: 'the tests run against a real Redis',
  },
  chromium: {
    title: 'Chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    fits: () => true,
    packages: { 'apt-get': 'chromium', dnf: 'chromium', yum: 'chromium', apk: 'chromium', zypper: 'chromium', pacman: 'chromium', brew: 'chromium' },
    purpose: 'the dashboard is tested in a real browser',
  },
};

const INSTALL = {
  'apt-get': [['update', '-q'], ['install', '-y', '-q', '--no-install-recommends']],
  dnf: [['install', '-y', '-q']],
  yum: [['install', '-y', '-q']],
  apk: [['add', '--no-cache']],
  zypper: [['--non-interactive', 'install']],
  pacman: [['-Sy', '--noconfirm', '--needed']],
  brew: [['install']],
};

/** Output of `command --version`, or undefined where there is no such command. */
function versionOf(command) {
  const { status, stdout, stderr } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  return status === 0 ? `${stdout}${stderr}` : undefined;
}

function found(program) {
  return program.commands.map(versionOf).filter((version) => version !== undefined);
}

/** How to become root: not at all, `sudo`, or undefined where there is no way without a person. */
function asRoot(manager) {
  if (manager === 'brew' || process.getuid?.() === 0) return [];
  if (spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0) return ['sudo'];
  return process.stdin.isTTY && versionOf('sudo') !== undefined ? ['sudo'] : undefined;
}

/**
 * Sees to it that `name` (`redis`, `chromium`) is installed. Returns undefined when it is, otherwise one sentence that
 * says what to do. Says what it is about to install before it does.
 */
export function installProgram(name, say) {
  const program = PROGRAMS[name];
  const standing = found(program);
  if (standing.some(program.fits)) return undefined;
  const lacking = standing.length === 0 ? `${program.title} is not installed` : `${program.title} is needed, found is ${standing[0].trim()}`;
  const please = `Please install it and run this again (${program.purpose}).`;

  const manager = Object.keys(INSTALL).find((one) => versionOf(one) !== undefined);
  if (manager === undefined) return `${lacking}, and no package manager known here (${Object.keys(INSTALL).join(', ')}) was found. ${please}`;
  const root = asRoot(manager);
  if (root === undefined) return `${lacking}, and installing it with ${manager} needs root. ${please}`;

  say(`${lacking}; installing it with ${manager}, since ${program.purpose}`);
  for (const [i, args] of INSTALL[manager].entries()) {
    const last = i === INSTALL[manager].length - 1;
    const [command, ...rest] = [...root, manager, ...args, ...(last ? [program.packages[manager]] : [])];
    // RUNLEVEL=1 keeps Debian's package from starting a server of its own: the tests start theirs on free ports.
    const { status } = spawnSync(command, rest, { stdio: ['inherit', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' } });
    // A package list that cannot be refreshed is no reason to give up: the package may be in the list we have.
    if (status !== 0 && last) return `${lacking}, and ${manager} could not install it; its lines above say why. ${please}`;
  }
  return found(program).some(program.fits) ? undefined : `${manager} installed ${program.packages[manager]}, but it is not ${program.title}. ${please}`;
}
