import { readFileSync } from 'node:fs';
import { request as httpRequest, Agent } from 'node:http';
import { performance } from 'node:perf_hooks';

/** Load from this process: so many connections, each sending one request after another, bounded in count. */
export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly count: number;
  readonly contentType: string;
  /** The n-th body. */
  body(n: number): Buffer;
}

export interface Measured {
  readonly perSecond: number;
  /** ms */
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

export async function run(load: Load): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const times = new Float64Array(load.count);
  const { hostname, port, pathname } = new URL(load.url);
  let next = 0;
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < load.count; n = next++) {
      const body = load.body(n);
      const began = performance.now();
      const status = await post({ hostname, port, path: pathname, agent, body, contentType: load.contentType });
      times[n] = performance.now() - began;
      if (status !== 200) failed += 1;
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: load.connections }, worker));
  const seconds = (performance.now() - began) / 1000;
  agent.destroy();
  const sorted = times.sort();
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  return { perSecond: load.count / seconds, p50: at(0.5), p99: at(0.99), failed };
}

interface Post {
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly agent: Agent;
  readonly body: Buffer;
  readonly contentType: string;
}

function post({ hostname, port, path, agent, body, contentType }: Post): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': contentType, 'Content-Length': body.length };
    const request = httpRequest({ hostname, port, path, method: 'POST', agent, headers }, (response) => {
      response.on('data', () => undefined);
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** CPU time of a process so far, user and system, ms (Linux: 100 ticks a second). */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Peak resident memory of a process so far, MiB. */
export function peakRssMiB(pid: number): number {
  const line = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}
