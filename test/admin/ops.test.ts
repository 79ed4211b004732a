import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GROUP_OF } from '../../src/admin/answer-groups.js';
import { metrics, operatorMetrics } from '../../src/admin/metrics.js';
import { Events } from '../../src/events.js';
import { ROOT } from '../support/child.js';
import { tempDir } from '../support/temp-dir.js';
import { anchors, page } from './documents.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
}
const rules = (parse(page('ops/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const board = JSON.parse(page('ops/grafana.json')) as { panels: { title: string; type: string; gridPos: Record<string, number>; targets?: { expr: string }[] }[] };
const expressions = [...rules.map(({ alert, expr }) => [alert, expr] as const), ...board.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [`panel ${title}`, expr] as const))];

/** The names that a scrape of a running node gives, from the metrics themselves. */
async function scraped(): Promise<{ names: Set<string>; events: Set<string> }> {
  const registry: Registry = metrics(new Events(), { waiting: () => 0, underWay: () => 0, spooled: () => ({ memory: 0, disk: 0 }), ledgerUp: () => true });
  operatorMetrics(registry, {
    version: '1', role: 'front', standing: () => ({ held: 1, uncertain: 1, inFlight: 1, oldestHeld: 0, oldestUncertain: 0, stats: { records: 1, bytes: 1, maxBytes: 1 }, at: 0 }),
    warnings: () => ['STORE_EVICTS'], pingMs: () => 1, storms: () => 1, certificates: () => [{ use: 'tls', file: 'f', subject: 's', notAfter: 0 }], journal: async () => 1, now: () => 1,
  });
  const text = await registry.metrics();
  const names = new Set([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', kind]) => (kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])));
  return { names, events: new Set([...text.matchAll(/^as4_once_events_total\{event="(\w+)"\}/gm)].map(([, name = '']) => name)) };
}

/** Codes of standing warnings, as the sources write them. */
const sources = (folder: string): string => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')).map((name) => readFileSync(join(ROOT, folder, name), 'utf8')).join('\n');
const source = `${sources('src/ledger')}${sources('src/admin')}`;

describe('the alerts', () => {
  it('name only metrics, events, answers and codes that there are; so does the Grafana board', async () => {
    const { names, events } = await scraped();
    const wrong = expressions.flatMap(([where, expr]) => [
      ...(expr.match(/\b(?:as4_once|process|nodejs)_\w+/g) ?? []).filter((name) => !names.has(name)),
      ...[...expr.matchAll(/event="(\w+)"/g)].map(([, event = '']) => event).filter((event) => !events.has(event)),
      ...[...expr.matchAll(/answer=~?"([^"]+)"/g)].flatMap(([, answers = '']) => answers.split('|')).filter((answer) => !(answer in GROUP_OF)),
      ...[...expr.matchAll(/what="(\w+)"/g)].map(([, what = '']) => what).filter((what) => !['held', 'uncertain', 'inFlight'].includes(what)),
      ...[...expr.matchAll(/code=~?"([^"]+)"/g)].flatMap(([, codes = '']) => codes.split('|')).filter((code) => !source.includes(`'${code}'`)),
    ].map((name) => `${where}: ${name}`));
    expect(wrong).toEqual([]);
  });

  it('leave out no code by which a store says that it may forget', () => {
    const [, list = ''] = /readonly code:([^;]+);/.exec(page('src/ledger/redis/inspect.ts')) ?? [];
    const codes = [...list.matchAll(/'(STORE_\w+)'/g)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(5);
    const alerted = rules.map(({ expr }) => expr).join('\n');
    // unreachable is as4_once_ledger_up
    expect(codes.filter((code) => code !== 'STORE_UNREACHABLE' && !alerted.includes(code))).toEqual([]);
  });

  it('cover what an operator must hear of', () => {
    const all = rules.map(({ alert }) => alert);
    for (const name of ['Held', 'Uncertain', 'Mismatch', 'Burnt', 'LedgerDown', 'StoreMayForget', 'Storm', 'TakeOver', 'ClockSkew', 'CertificateEnds']) expect(all).toContain(`As4Once${name}`);
    expect(new Set(all).size).toBe(all.length);
  });

  it('lead each to a section of the runbook, and every section belongs to one', () => {
    const found = anchors(page('ops/runbook.md'));
    const wanted = rules.map(({ alert, annotations }) => {
      expect(annotations.runbook, alert).toBe(`ops/runbook.md#${alert.toLowerCase()}`);
      return alert.toLowerCase();
    });
    expect([...found].filter((anchor) => anchor !== 'runbook').sort()).toEqual(wanted.sort());
  });

  it('say what happened in a sentence, how bad it is, and what it means', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity, alert).toMatch(/^(warning|critical)$/);
      expect(annotations.summary.length, alert).toBeGreaterThan(20);
      expect(annotations.description, alert).toMatch(/\.$/);
    }
  });
});

describe('the runbook', () => {
  const text = page('ops/runbook.md');

  it('says in every section what it means and what to do', () => {
    for (const section of text.split(/^## /m).slice(1)) {
      expect(section).toMatch(/\*\*Means\.\*\*/);
      expect(section).toMatch(/\*\*Do\.\*\*/);
    }
  });
});

describe('the Grafana board', () => {
  it('has panels that do not overlap, each with a title', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos: { x = 0, y = 0, w = 0, h = 0 } } of board.panels) {
      expect(title).not.toBe('');
      for (let i = x; i < x + w; i += 1) {
        for (let j = y; j < y + h; j += 1) {
          expect(taken.get(`${i},${j}`), title).toBeUndefined();
          taken.set(`${i},${j}`, title);
        }
      }
      expect(x + w).toBeLessThanOrEqual(24);
    }
  });
});

const promtool = spawnSync('promtool', ['--version']).status === 0;

describe.skipIf(!promtool)(`Prometheus itself${promtool ? '' : ' (skipped: no promtool here; it comes with the package prometheus)'}`, () => {
  /** Series that make each alert fire, and when; `0+0x60` is sixty minutes of zero. */
  const FIRING: Record<string, { series: Record<string, string>; at?: string }> = {
    As4OnceHeld: { series: { 'as4_once_standing{what="held"}': '1x60' } },
    As4OnceHeldLong: { series: { 'as4_once_standing_oldest_seconds{what="held"}': '20000x60' } },
    As4OnceUncertain: { series: { 'as4_once_standing{what="uncertain"}': '2x60' } },
    As4OnceMismatch: { series: { 'as4_once_events_total{event="mismatch"}': '0 0 0 1x60' } },
    As4OnceTwoContents: { series: { 'as4_once_events_total{event="twoContents"}': '0 0 0 1x60' } },
    As4OnceBurnt: { series: { 'as4_once_events_total{event="burnt"}': '0 0 0 1x60' } },
    As4OnceWrongAnswer: { series: { 'as4_once_events_total{event="wrongAnswer"}': '0 0 0 1x60' } },
    As4OnceLedgerDown: { series: { 'as4_once_ledger_up': '0x60' } },
    As4OnceLedgerBehind: { series: { 'as4_once_store_warning{code="LEDGER_BEHIND"}': '1x60' } },
    As4OnceStoreMayForget: { series: { 'as4_once_store_warning{code="STORE_EVICTS"}': '1x60' } },
    As4OnceStoreNearlyFull: { series: { 'as4_once_ledger_bytes': '90x60', 'as4_once_ledger_max_bytes': '100x60' } },
    As4OnceJournal: { series: { 'as4_once_journal_entries': '1x60' } },
    As4OnceUnreadable: { series: { 'as4_once_events_total{event="unreadable"}': '0 0 0 1x60' } },
    As4OnceFault: { series: { 'as4_once_events_total{event="fault"}': '0 0 0 1x60' } },
    As4OnceStorm: { series: { 'as4_once_storms': '1x60' } },
    As4OnceTakeOver: { series: { 'as4_once_events_total{event="takeOver"}': '0x45 1x15' }, at: '50m' },
    As4OnceClockSkew: { series: { 'as4_once_store_warning{code="STORE_CLOCK_SKEW"}': '1x60' } },
    As4OnceCertificateEnds: { series: { 'as4_once_certificate_not_after_seconds{use="tls",file="t.pem"}': `${13 * 86_400}x60` } },
    As4OnceUnavailable: { series: { 'as4_once_exchanges_total{answer="first"}': '0+100x60', 'as4_once_exchanges_total{answer="unavailable"}': '0+10x60' } },
    As4OnceBypass: { series: { 'as4_once_store_warning{code="BYPASS"}': '1x60' } },
    As4OnceDenied: { series: { 'as4_once_events_total{event="denied"}': '0+5x60' } },
    As4OnceGone: { series: {} },
  };
  const CALM = {
    'as4_once_info': '1x60', 'as4_once_ledger_up': '1x60', 'as4_once_standing{what="held"}': '0x60', 'as4_once_standing{what="uncertain"}': '0x60', 'as4_once_standing{what="inFlight"}': '7x60',
    'as4_once_events_total{event="mismatch"}': '3x60', 'as4_once_exchanges_total{answer="first"}': '0+100x60', 'as4_once_exchanges_total{answer="unavailable"}': '0+1x60',
    'as4_once_journal_entries': '0x60', 'as4_once_storms': '0x60', 'as4_once_ledger_bytes': '10x60', 'as4_once_ledger_max_bytes': '100x60',
    'as4_once_certificate_not_after_seconds{use="tls",file="t.pem"}': `${90 * 86_400}x60`,
  };
  const labelled = (series: Record<string, string>): { series: string; values: string }[] => Object.entries(series).map(([name, values]) => ({
    series: name.includes('{') ? name.replace('{', '{job="as4-once",instance="n1",') : `${name}{job="as4-once",instance="n1"}`,
    values: values.includes(' ') || values.includes('+') ? values : `${values.split('x')[0]}+0x${values.split('x')[1]}`,
  }));

  it('takes the rules, fires each one where it should, and none on a calm day', () => {
    const folder = tempDir('promtool');
    const checks = [
      ...rules.map(({ alert }) => {
        const { series, at = '59m' } = FIRING[alert] ?? { series: {} };
        return { interval: '1m', name: `fires ${alert}`, input_series: labelled(series), promql_expr_test: [{ expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`, eval_time: at, exp_samples: [{ value: 1 }] }] };
      }),
      { interval: '1m', name: 'calm', input_series: labelled(CALM), promql_expr_test: [{ expr: 'ALERTS', eval_time: '59m', exp_samples: [] }] },
    ];
    const file = join(folder.path, 'alerts.test.json');
    writeFileSync(file, JSON.stringify({ rule_files: [join(ROOT, 'ops/alerts.yml')], evaluation_interval: '1m', tests: checks }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    folder.remove();
    expect(stdout + stderr).not.toContain('FAILED');
    expect(status).toBe(0);
  });
});
