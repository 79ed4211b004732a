import { VERDICTS, VERDICT_MEANING } from '../run/requirement.js';
import { STYLE } from './html-style.js';
import { holds } from './make.js';
import type { Report, ReportExchange, ReportResult } from './schema.js';

/** Exchanges of one requirement that are shown; the JSON report has all of them. */
const EXCHANGES_MAX = 20;

/** One page that stands on its own: no script, no request to anywhere. Whatever a target answered is shown as text. */
export function htmlReport(report: Report): string {
  const title = `${report.target.name}${report.target.version === null ? '' : ` ${report.target.version}`}`;
  const unmet = report.results.filter(
    (result) => ['fail', 'error', 'warning'].includes(result.verdict) || !holds(result, report.strict),
  );
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${h(title)}: duplicate handling</title><style>${STYLE}</style></head><body>`,
    head(report, title),
    '<main>',
    section('Verdicts', verdictTable(report)),
    section('By clause and level', clauseTable(report)),
    unmet.length === 0 ? '' : section('Not met', unmet.map((result) => detail(result, true)).join('\n')),
    section('All requirements', report.results.map((result) => detail(result, false)).join('\n')),
    '</main></body></html>',
    '',
  ].join('\n');
}

function section(name: string, content: string): string {
  return `<section><h2>${name}</h2>${content}</section>`;
}

function head({ ok, suite, date, durationMs, strict, target }: Report, title: string): string {
  const seconds = (durationMs / 1_000).toFixed(1);
  const run = `as4-once-conformance ${suite.version} · ${date} · profile ${target.profile}`;
  const claims = Object.entries(target.claims).map(([name, value]) => code(`${name}: ${value}`));
  return [
    `<header><h1>${h(title)}</h1>`,
    `<p class="outcome ${ok ? 'pass' : 'fail'}">${ok ? 'meets' : 'does not meet'} what is asked of it</p>`,
    `<p>${h(run)} · ${suite.requirements} requirements in ${seconds} s${strict ? ' · strict' : ''}</p>`,
    target.notes === null ? '' : `<p>${h(target.notes)}</p>`,
    `<p>Addresses: ${target.urls.map(code).join(', ')}. `,
    `Claims: ${claims.length === 0 ? 'none' : claims.join(', ')}.</p></header>`,
  ].join('\n');
}

function verdictTable(report: Report): string {
  const rows = VERDICTS.map((verdict) => [
    `<tr><th scope="row" class="${verdict}">${verdict}</th>`,
    `<td class="number">${report.totals[verdict]}</td><td>${h(VERDICT_MEANING[verdict])}</td></tr>`,
  ]);
  return table(['Verdict', 'Count', 'Meaning'], rows.flat());
}

function clauseTable(report: Report): string {
  const groups = new Map<string, ReportResult[]>();
  for (const result of report.results) {
    const key = `${result.document}, ${result.section}\n${result.judgedAs}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  const rows = [...groups].map(([key, results]) => {
    const [clause = '', level = ''] = key.split('\n');
    const counts = VERDICTS.map((verdict) => {
      const count = results.filter((result) => result.verdict === verdict).length;
      return `<td class="number ${count > 0 ? verdict : ''}">${count === 0 ? '' : count}</td>`;
    });
    return `<tr><th scope="row">${h(clause)}</th><td>${level}</td>${counts.join('')}</tr>`;
  });
  return table(['Clause', 'Level', ...VERDICTS], rows);
}

function table(names: readonly string[], rows: readonly string[]): string {
  const cells = names.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<table><thead><tr>${cells}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function detail(result: ReportResult, open: boolean): string {
  const claimed = `${result.level}, judged as ${result.judgedAs} because it is claimed`;
  const facts = [
    ['Source', `${result.document}, ${result.section}: ${result.says}`],
    ['See also', result.refs.join('; ')],
    ['Sent', result.sends],
    ['Expected', result.expects],
    ['Seen', result.detail],
    ['Known', result.known ?? ''],
    ['Unexpected', result.unexpected ?? ''],
    ['Level', result.level === result.judgedAs ? result.level : claimed],
  ].filter(([, value]) => value !== '');
  const left = result.exchanges.length - EXCHANGES_MAX;
  return [
    `<details${open ? ' open' : ''}><summary><span class="tag ${result.verdict}">${result.verdict}</span> `,
    `${code(result.id)} ${h(result.title)} <small>${result.ms} ms</small></summary>`,
    `<dl>${facts.map(([name = '', value = '']) => `<dt>${name}</dt><dd>${h(value)}</dd>`).join('')}</dl>`,
    ...result.exchanges.slice(0, EXCHANGES_MAX).map(exchange),
    left > 0 ? `<p>and ${left} more exchanges, in the JSON report</p>` : '',
    '</details>',
  ].join('\n');
}

function exchange({ label, atMs, request, answer }: ReportExchange): string {
  const sent = `${label}, after ${atMs} ms: ${request.bytes} bytes, MessageId ${request.messageId}`;
  const line = h(`${sent} → ${answer.summary}, ${answer.ms} ms`);
  if (request.envelope === undefined) return `<p>${line}</p>`;
  const body = answer.body === undefined || answer.body === '' ? '' : `<pre>${h(answer.body)}</pre>`;
  return [
    `<details><summary>${line}</summary>`,
    `<p>${h(request.contentType)}</p><pre>${h(request.envelope)}</pre>`,
    `<p>${h(answer.contentType ?? 'no Content-Type')}</p>${body}</details>`,
  ].join('\n');
}

function code(text: string): string {
  return `<code>${h(text)}</code>`;
}

function h(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
