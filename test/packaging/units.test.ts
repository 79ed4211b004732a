import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { TIMES } from '../../src/limits.js';
import { inspectConfig } from '../../src/config/load.js';
import { EXIT } from '../../src/cli/io.js';
import { ROOT } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const grace = TIMES.shutdownGrace / 1000;
const answerBy = TIMES.answerBy / 1000;

/** Everything kills or times out later than as4-once answers: else a sender loses an answer that we have. */
describe('the systemd unit', () => {
  const unit = text('ops/as4-once.service').split('\n').filter((line) => /^[A-Z]/.test(line));
  const value = (name: string): string | undefined => unit.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);

  it('waits for what is in flight', () => {
    expect(Number(value('TimeoutStopSec'))).toBeGreaterThanOrEqual(grace + 5);
    expect(value('KillSignal')).toBe('SIGTERM');
  });

  it('checks the configuration first, reloads it by SIGHUP, and does not restart into a wrong one', () => {
    expect(value('ExecStartPre')).toContain('as4-once check --config');
    expect(value('ExecStart')).toContain('as4-once serve --config');
    expect(value('ExecReload')).toBe('/bin/kill -HUP $MAINPID');
    expect(value('RestartPreventExitStatus')).toBe(String(EXIT.usage));
  });

  it('is not root and writes only its own folder', () => {
    expect(value('DynamicUser')).toBe('yes');
    expect(value('ProtectSystem')).toBe('strict');
    expect(value('StateDirectory')).toBe('as4-once');
    expect(value('NoNewPrivileges')).toBe('yes');
  });

  it('leaves alone what would break as4-once', () => {
    // Node compiles at run time; a PID namespace of its own would hide dead owners of claims (law 8).
    for (const name of ['MemoryDenyWriteExecute', 'PrivatePIDs', 'PrivateUsers']) expect(value(name)).toBeUndefined();
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { name: string };
  readonly data?: Record<string, string>;
  readonly spec?: Record<string, unknown>;
}

describe('the Kubernetes example', () => {
  const manifests = parseAllDocuments(text('ops/kubernetes.yaml')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
  const set = manifests.find((m) => m.kind === 'StatefulSet')?.spec as {
    template: { spec: { terminationGracePeriodSeconds: number; securityContext: Record<string, unknown>; containers: Record<string, never>[] } };
    volumeClaimTemplates: { metadata: { name: string } }[];
    serviceName: string;
  };
  const pod = set.template.spec;
  const [container] = pod.containers as unknown as [{
    args: string[];
    ports: { name: string; containerPort: number }[];
    livenessProbe: { httpGet: { path: string; port: string } };
    readinessProbe: { httpGet: { path: string; port: string } };
    lifecycle: { preStop: { exec: { command: string[] } } };
    securityContext: Record<string, unknown>;
    volumeMounts: { name: string; mountPath: string }[];
  }];

  it('gives a pod the time of preStop and of what is in flight, and a little', () => {
    const pause = Number(container.lifecycle.preStop.exec.command.join(' ').match(/, (\d+)\)/)?.[1]) / 1000;
    expect(pause).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(grace + pause + 5);
    expect(pod.terminationGracePeriodSeconds).toBe(130);
  });

  it('keeps the journal over the life of a pod', () => {
    expect(container.volumeMounts.find((mount) => mount.name === 'data')?.mountPath).toBe('/data');
    expect(set.volumeClaimTemplates.map((claim) => claim.metadata.name)).toContain('data');
    expect(manifests.find((m) => m.kind === 'ConfigMap')?.data?.['front.yaml']).toMatch(/^journal: \/data\//m);
  });

  it('asks the admin listener, and does not take all nodes out when the ledger is lost', () => {
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'admin' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'admin' });
    expect(container.ports.map((port) => port.name)).toEqual(['as4', 'admin']);
  });

  it('runs without root and without a way to become it', () => {
    expect(pod.securityContext['runAsNonRoot']).toBe(true);
    expect(container.securityContext['allowPrivilegeEscalation']).toBe(false);
    expect(container.securityContext['readOnlyRootFilesystem']).toBe(true);
  });

  it('carries a configuration that is valid, and takes what is secret from the secret', () => {
    const folder = tempDir('kubernetes');
    writeFileSync(join(folder.path, 'redis-url'), 'rediss://user:canary@redis:6379\n');
    writeFileSync(join(folder.path, 'admin-token'), 'canary\n');
    const written = manifests.find((m) => m.kind === 'ConfigMap')?.data?.['front.yaml'] ?? '';
    expect(written).toContain('urlFile: /etc/as4-once-secret/');
    const { config, warnings } = inspectConfig({ text: written.replaceAll('/etc/as4-once-secret', folder.path) });
    folder.remove();
    expect(warnings).toEqual([]);
    expect([config.listen?.port, config.admin?.listen.port]).toEqual(container.ports.map((port) => port.containerPort));
  });

  it('refers only to what it holds', () => {
    const names = (kind: string): string[] => manifests.filter((m) => m.kind === kind).map((m) => m.metadata.name);
    expect(names('Service')).toContain(set.serviceName);
    expect(names('ConfigMap')).toEqual(['as4-once']);
    expect(names('PodDisruptionBudget')).toEqual(['as4-once']);
  });
});

describe('the reverse proxies', () => {
  const nginx = text('ops/nginx.conf').split('\n').map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '');
  const directive = (name: string): string | undefined => nginx.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1).replace(/;$/, '');

  it('nginx neither keeps, nor repeats, nor changes a message', () => {
    expect(directive('proxy_request_buffering')).toBe('off');
    expect(directive('proxy_buffering')).toBe('off');
    expect(directive('proxy_next_upstream')).toBe('off');
    expect(directive('gzip')).toBe('off');
    expect(directive('proxy_http_version')).toBe('1.1');
    expect(directive('client_max_body_size')).toBe('0');
  });

  it('nginx is more patient than we are', () => {
    for (const name of ['proxy_read_timeout', 'proxy_send_timeout', 'send_timeout']) {
      expect(Number.parseInt(directive(name) ?? '0', 10), name).toBeGreaterThan(answerBy);
    }
  });

  it('Traefik neither keeps, nor repeats, nor changes a message, and is more patient than we are', () => {
    const routes = parse(text('ops/traefik-routes.yml')) as {
      http: {
        middlewares?: unknown;
        routers: Record<string, { middlewares?: unknown }>;
        serversTransports: Record<string, { forwardingTimeouts: { responseHeaderTimeout: string } }>;
        services: Record<string, { loadBalancer: { serversTransport: string } }>;
      };
    };
    expect(routes.http.middlewares).toBeUndefined();
    expect(routes.http.routers['as4']?.middlewares).toBeUndefined();
    const transport = routes.http.services['as4-once']?.loadBalancer.serversTransport ?? '';
    expect(Number.parseInt(routes.http.serversTransports[transport]?.forwardingTimeouts.responseHeaderTimeout ?? '0', 10)).toBeGreaterThan(answerBy);
  });

  it('Traefik does not cut a long upload short, and waits at its own restart', () => {
    const { transport } = (parse(text('ops/traefik.yml')) as { entryPoints: { as4: { transport: Record<string, Record<string, string>> } } }).entryPoints.as4;
    expect(transport['respondingTimeouts']?.['readTimeout']).toBe('0s');
    expect(transport['respondingTimeouts']?.['writeTimeout']).toBe('0s');
    expect(Number.parseInt(transport['lifeCycle']?.['graceTimeOut'] ?? '0', 10)).toBeGreaterThan(answerBy);
  });
});
