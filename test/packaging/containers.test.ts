import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { inspectConfig } from '../../src/config/load.js';
import { TIMES } from '../../src/limits.js';
import { ROOT } from '../support/child.js';

/** No container is built here: these files are read, and held against what as4-once needs of them. */
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const grace = TIMES.shutdownGrace / 1000;

/** Instructions of a Dockerfile, continued lines joined. */
function instructions(dockerfile: string): { name: string; rest: string }[] {
  return dockerfile.replace(/\\\n/g, ' ').split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ name: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1).trim() }));
}

describe('Dockerfile', () => {
  const all = instructions(text('Dockerfile'));
  const last = all.slice(all.map((i) => i.name).lastIndexOf('FROM'));
  const one = (name: string): string => {
    const found = last.filter((i) => i.name === name);
    expect(found, name).toHaveLength(1);
    return found[0]?.rest ?? '';
  };

  it('builds in a stage of its own and runs on Node 24', () => {
    const stages = all.filter((i) => i.name === 'FROM').map((i) => i.rest);
    expect(stages).toHaveLength(2);
    expect(stages[0]).toMatch(/ AS build$/);
    for (const stage of stages) expect(stage).toMatch(/^node:24\b/);
  });

  it('runs as somebody who is not root, and owns only what it writes', () => {
    expect(one('USER')).toBe('node');
    expect(last.findIndex((i) => i.name === 'USER')).toBeLessThan(last.findIndex((i) => i.name === 'ENTRYPOINT'));
    expect(last.filter((i) => i.name === 'COPY').every((i) => !i.rest.includes('--chown'))).toBe(true);
    expect(one('VOLUME')).toBe('/data');
  });

  it('brings no source and no development package into the last stage', () => {
    expect(last.filter((i) => i.name === 'COPY').every((i) => i.rest.startsWith('--from=build '))).toBe(true);
    expect(all.some((i) => i.rest.includes('npm prune --omit=dev'))).toBe(true);
  });

  it('starts the command that the package has, and serves by default', () => {
    const { bin } = JSON.parse(text('package.json')) as { bin: Record<string, string> };
    expect(JSON.parse(one('ENTRYPOINT'))).toEqual(['node', `/app/${bin['as4-once']}`]);
    expect(JSON.parse(one('CMD'))).toEqual(['serve', '--config', '/etc/as4-once/front.yaml']);
    expect(one('STOPSIGNAL')).toBe('SIGTERM');
  });

  it('asks the admin listener how it is', () => {
    const check = one('HEALTHCHECK');
    expect(check).toContain('/healthz');
    expect(one('EXPOSE').split(' ')).toContain(check.match(/127\.0\.0\.1:(\d+)/)?.[1]);
    // the check itself is a script that must at least be one
    const script = (JSON.parse(check.slice(check.indexOf('['))) as string[])[2] as string;
    expect(() => new Function(script)).not.toThrow();
  });

  it('is given what it copies: every source exists and passes .dockerignore', () => {
    const passed = text('.dockerignore').split('\n').filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const first = all.slice(0, all.map((i) => i.name).lastIndexOf('FROM'));
    const copied = first.filter((i) => i.name === 'COPY').flatMap((i) => i.rest.split(' ').slice(0, -1));
    expect(copied.sort()).toEqual(passed.sort());
    for (const path of copied) expect(existsSync(join(ROOT, path)), path).toBe(true);
  });
});

interface Service {
  readonly ports?: string[];
  readonly volumes?: string[];
  readonly environment?: Record<string, string>;
  readonly command?: string[];
  readonly image?: string;
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: { test: string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: string[];
}

describe('docker-compose.yml', () => {
  const compose = parse(text('docker-compose.yml')) as { services: Record<'front' | 'redis', Service>; volumes: Record<string, unknown> };
  const { front, redis } = compose.services;
  const setting = (name: string): string | undefined => redis.command?.[redis.command.indexOf(`--${name}`) + 1];

  it('has a Redis that does not forget: AOF on disk, nothing evicted, on a volume', () => {
    expect(redis.command?.[0]).toBe('redis-server');
    expect(setting('appendonly')).toBe('yes');
    expect(setting('appendfsync')).toBe('always');
    expect(setting('maxmemory-policy')).toBe('noeviction');
    expect(setting('maxmemory')).toMatch(/^\d+mb$/);
    expect(redis.volumes).toEqual(['redis-data:/data']);
    expect(Number(redis.image?.match(/^redis:(\d+)/)?.[1])).toBeGreaterThanOrEqual(7);
  });

  it('checks the health of both, and starts the front after Redis is healthy', () => {
    expect(front.healthcheck?.test.join(' ')).toContain('/healthz');
    expect(redis.healthcheck?.test).toEqual(['CMD', 'redis-cli', 'ping']);
    expect(front.depends_on?.['redis']?.condition).toBe('service_healthy');
  });

  it('publishes on loopback only', () => {
    const ports = [...(front.ports ?? []), ...(redis.ports ?? [])];
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('lets the front finish what is in flight, keep its journal, and write nowhere else', () => {
    expect(Number.parseInt(front.stop_grace_period ?? '0', 10)).toBeGreaterThanOrEqual(grace + 5);
    expect(front.volumes).toContain('front-data:/data');
    expect(front.read_only).toBe(true);
    expect(front.cap_drop).toEqual(['ALL']);
    expect(Object.keys(compose.volumes).sort()).toEqual(['front-data', 'redis-data']);
  });

  it('mounts a configuration that is valid, warns of nothing, and listens where the ports lead', () => {
    const mounted = front.volumes?.find((volume) => volume.includes('/etc/as4-once/'))?.split(':')[0] ?? '';
    const { config, warnings } = inspectConfig(join(ROOT, mounted), { env: { AS4_ONCE_ADMIN_TOKEN: 'chosen' } });
    expect(Object.keys(front.environment ?? {})).toEqual(['AS4_ONCE_ADMIN_TOKEN']);
    expect(warnings).toEqual([]);
    const inside = (front.ports ?? []).map((port) => Number(port.split(':')[2]));
    expect(inside).toEqual([config.listen?.port, config.admin?.listen.port]);
    expect([config.journal, config.spool, config.state].every((path) => path?.startsWith('/data/'))).toBe(true);
  });
});
