import { readFileSync, readlinkSync } from 'node:fs';
import type { Owner } from './record.js';

/**
 * Who holds a claim, precise enough to prove it dead (law 8): the same boot and PID namespace, and no process of that
 * pid and start time. Where the system offers none of it (no /proc), nothing is ever proven and leases decide alone.
 */

const quiet = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};

const BOOT = quiet(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
const NAMESPACE = quiet(() => readlinkSync('/proc/self/ns/pid'));
const STARTED = startedAt(process.pid)?.started ?? '';

/** The identity of this process, as it stands in the claims it makes. */
export const thisProcess = (node: string): Owner =>
  ({ node, pid: process.pid, started: STARTED, boot: BOOT, pidNamespace: NAMESPACE });

/** True only where the owner is certainly gone. */
export function provenDead(owner: Owner): boolean {
  const comparable = owner.boot !== '' && owner.pidNamespace !== '' && owner.started !== '' && owner.pid > 0;
  if (!comparable || owner.boot !== BOOT || owner.pidNamespace !== NAMESPACE) return false;
  if (owner.pid === process.pid) return owner.started !== STARTED;
  const found = startedAt(owner.pid);
  return found === undefined || found.ended || found.started !== owner.started;
}

/** True where the owner ran before this machine's last start: for stores that only one machine can open. */
export const beforeThisBoot = (owner: Owner): boolean => owner.boot !== '' && BOOT !== '' && owner.boot !== BOOT;

/** Start ticks of a process (proc(5), stat field 22) and whether it is a zombie; undefined where there is none. */
function startedAt(pid: number): { started: string; ended: boolean } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // anything but "no such process" proves nothing: answer as if it ran, with no start time to compare
    return code === 'ENOENT' || code === 'ESRCH' ? undefined : { started: '', ended: false };
  }
  // the command name may hold spaces and brackets: fields are counted from its closing one
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { started: fields[19] ?? '', ended: fields[0] === 'Z' || fields[0] === 'X' };
}
