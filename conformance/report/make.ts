import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clauseOf } from '../clauses.js';
import type { Exchange } from '../run/context.js';
import { VERDICTS } from '../run/requirement.js';
import type { Verdict } from '../run/requirement.js';
import type { Result } from '../run/runner.js';
import type { Target } from '../target/target.js';
import type { Expectation } from './expected.js';
import type { Report, ReportExchange, ReportResult } from './schema.js';

const TEXT_MAX = 16_384;

export interface ReportOptions {
  readonly strict: boolean;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly expected: ReadonlyMap<string, Expectation>;
}

/** Puts a run into the form that is stored, compared and shown. */
export function makeReport(target: Target, results: readonly Result[], options: ReportOptions): Report {
  const listed = results.map(reportResult);
  const totals = Object.fromEntries(
    VERDICTS.map((verdict) => [verdict, listed.filter((result) => result.verdict === verdict).length]),
  ) as Record<Verdict, number>;
  const report: Report = {
    format: 'as4-once-conformance/1',
    suite: { version: suiteVersion(), node: process.versions.node, requirements: results.length },
    date: options.startedAt.toISOString(),
    durationMs: Math.round(options.durationMs),
    target: {
      name: target.name,
      version: target.version ?? null,
      notes: target.notes ?? null,
      profile: target.profile,
      urls: target.urls.map(({ href }) => href),
      capabilities: [...target.capabilities].toSorted(),
      claims: { ...target.claims },
      times: { ...target.times },
    },
    strict: options.strict,
    ok: false,
    totals,
    results: listed,
  };
  return withExpected(report, options.expected);
}

/** The report with its results held against what was expected, and judged as a whole. */
export function withExpected(report: Report, expected: ReadonlyMap<string, Expectation>): Report {
  const results = report.results.map(({ known: _known, unexpected: _unexpected, ...result }): ReportResult => {
    const expectation = expected.get(result.id);
    if (expectation === undefined || result.verdict === 'skipped' || result.verdict === 'blocked') return result;
    if (expectation.verdict === result.verdict) return { ...result, known: expectation.reason };
    return { ...result, unexpected: `expected ${expectation.verdict}: ${expectation.reason}` };
  });
  return { ...report, results, ok: results.every((result) => holds(result, report.strict)) };
}

/** Whether a result lets the run end well: no fail, no error (strict: no warning), except those that were expected. */
export function holds(result: ReportResult, strict: boolean): boolean {
  if (result.unexpected !== undefined) return false;
  if (result.known !== undefined) return true;
  return result.verdict !== 'fail' && result.verdict !== 'error' && !(strict && result.verdict === 'warning');
}

function reportResult(result: Result): ReportResult {
  const { requirement, verdict } = result;
  const clause = clauseOf(requirement.id);
  const withText = verdict !== 'pass' && verdict !== 'observed';
  return {
    id: requirement.id,
    document: clause?.document ?? '',
    section: clause?.section ?? '',
    title: requirement.title,
    level: requirement.level,
    judgedAs: result.level,
    says: requirement.says,
    refs: [...requirement.refs],
    sends: requirement.sends,
    expects: requirement.expects,
    verdict,
    detail: result.detail,
    ms: result.ms,
    exchanges: result.exchanges.map((exchange) => reportExchange(exchange, withText)),
  };
}

function reportExchange({ label, url, at, request, answer }: Exchange, withText: boolean): ReportExchange {
  return {
    label,
    url,
    atMs: at,
    request: {
      messageId: request.messageId,
      contentType: request.contentType,
      bytes: request.body.length,
      sha256: createHash('sha256').update(request.body).digest('hex'),
      ...(withText ? { envelope: cut(request.envelope) } : {}),
    },
    answer: {
      what: answer.what,
      summary: answer.summary,
      status: answer.status ?? null,
      contentType: answer.contentType ?? null,
      bytes: answer.body.length,
      sha256: answer.sha256 === '' ? null : answer.sha256,
      ms: answer.wire.ms,
      ...(withText ? { body: cut(answer.body.subarray(0, 4 * TEXT_MAX).toString('utf8')) } : {}),
    },
  };
}

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;
}

/** Version of the package this file belongs to, built or not. */
function suiteVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (found.name === 'as4-once') return found.version ?? 'unknown';
    } catch {
      // look further up
    }
  }
  return 'unknown';
}
