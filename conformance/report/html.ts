import { VERDICTS, VERDICT_MEANING } from '../run/requirement.js';
import { holds } from './make.js';
import type { Report, ReportExchange, ReportResult } from './schema.js';

/** One page that stands on its own: no script, no request to anywhere. Whatever a target answered is shown as text. */
export function htmlReport(report: Report): string {
  const { target } = report;
  const title = `${target.name}${target.version === null ? '' : ` ${target.version}`}`;
  const unmet = report.results.filter((result) => ['fail', 'error', 'warning'].includes(result.verdict) || !holds(result, report.strict));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${h(title)}: duplicate handling</title><style>${STYLE}</style></head><body>
<header><h1>${h(title)}</h1>
<p class="outcome ${report.ok ? 'pass' : 'fail'}">${report.ok ? 'meets what is asked of it' : 'does not meet what is asked of it'}</p>
<p>as4-once-conformance ${h(report.suite.version)} · ${h(report.date)} · profile ${h(target.profile)} · ${report.suite.requirements} requirements in ${(report.durationMs / 1_000).toFixed(1)} s${report.strict ? ' · strict' : ''}</p>
${target.notes === null ? '' : `<p>${h(target.notes)}</p>`}
<p>Addresses: ${target.urls.map((url) => `<code>${h(url)}</code>`).join(', ')}. Claims: ${claims(report)}.</p></header>
<main><section><h2>Verdicts</h2><table><thead><tr><th scope="col">Verdict</th><th scope="col">Count</th><th scope="col">Meaning</th></tr></thead><tbody>
${VERDICTS.map((verdict) => `<tr><th scope="row" class="${verdict}">${verdict}</th><td class="number">${report.totals[verdict] ?? 0}</td><td>${h(VERDICT_MEANING[verdict])}</td></tr>`).join('\n')}
</tbody></table></section>
<section><h2>By clause and level</h2>${byClause(report)}</section>
${unmet.length === 0 ? '' : `<section><h2>Not met</h2>${unmet.map((result) => detail(result, true)).join('\n')}</section>`}
<section><h2>All requirements</h2>${report.results.map((result) => detail(result, false)).join('\n')}</section></main>
</body></html>
`;
}

const STYLE = `:root{color-scheme:light dark;--line:#8886;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem}
h1{margin:.2em 0}h2{margin:1.6em 0 .4em}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
.number{text-align:right;font-variant-numeric:tabular-nums}details{border:1px solid var(--line);border-radius:.4rem;margin:.4rem 0;padding:.3rem .7rem}
summary{cursor:pointer}pre{overflow:auto;max-height:24rem;background:var(--soft);padding:.6rem;border-radius:.3rem;white-space:pre-wrap;word-break:break-all;font-size:.8rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{font-weight:600}dd{margin:0}
.tag{display:inline-block;min-width:5.5em;font-weight:600}.pass{color:#17803d}.fail,.error{color:#c3241c}.warning{color:#9a5b00}.observed{color:#1d5fb8}.skipped,.blocked{color:#777}
.outcome{font-size:1.2rem;font-weight:600}
@media(prefers-color-scheme:dark){.pass{color:#5ad07f}.fail,.error{color:#ff7b72}.warning{color:#e8b04b}.observed{color:#79b8ff}.skipped,.blocked{color:#aaa}}`;

function claims(report: Report): string {
  const entries = Object.entries(report.target.claims);
  return entries.length === 0 ? 'none' : entries.map(([name, value]) => `<code>${h(`${name}: ${value}`)}</code>`).join(', ');
}

function byClause(report: Report): string {
  const groups = new Map<string, ReportResult[]>();
  for (const result of report.results) {
    const key = `${result.document}\n${result.section}\n${result.judgedAs}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  const rows = [...groups].map(([key, results]) => {
    const [document = '', section = '', level = ''] = key.split('\n');
    const counts = VERDICTS.map((verdict) => {
      const count = results.filter((result) => result.verdict === verdict).length;
      return `<td class="number ${count > 0 ? verdict : ''}">${count === 0 ? '' : count}</td>`;
    });
    return `<tr><th scope="row">${h(document)}, ${h(section)}</th><td>${level}</td>${counts.join('')}</tr>`;
  });
  return `<table><thead><tr><th scope="col">Clause</th><th scope="col">Level</th>${VERDICTS.map((verdict) => `<th scope="col" class="number">${verdict}</th>`).join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function detail(result: ReportResult, open: boolean): string {
  const facts = [
    ['Source', `${result.document}, ${result.section}: ${result.says}`],
    ['See also', result.refs.join('; ')],
    ['Sent', result.sends],
    ['Expected', result.expects],
    ['Seen', result.detail],
    ['Known', result.known ?? ''],
    ['Unexpected', result.unexpected ?? ''],
    ['Level', result.level === result.judgedAs ? result.level : `${result.level}, judged as ${result.judgedAs} because it is claimed`],
  ].filter(([, value]) => value !== '');
  return `<details${open ? ' open' : ''}><summary><span class="tag ${result.verdict}">${result.verdict}</span> <code>${h(result.id)}</code> ${h(result.title)} <small>${result.ms} ms</small></summary>
<dl>${facts.map(([name = '', value = '']) => `<dt>${name}</dt><dd>${h(value)}</dd>`).join('')}</dl>
${result.exchanges.slice(0, 20).map(exchange).join('\n')}${result.exchanges.length > 20 ? `<p>and ${result.exchanges.length - 20} more exchanges, in the JSON report</p>` : ''}</details>`;
}

function exchange({ label, atMs, request, answer }: ReportExchange): string {
  const head = `${label}, after ${atMs} ms: ${request.bytes} bytes, MessageId ${request.messageId} → ${answer.summary}, ${answer.ms} ms`;
  if (request.envelope === undefined) return `<p>${h(head)}</p>`;
  const body = answer.body === undefined || answer.body === '' ? '' : `<pre>${h(answer.body)}</pre>`;
  return `<details><summary>${h(head)}</summary><p>${h(request.contentType)}</p><pre>${h(request.envelope)}</pre><p>${h(answer.contentType ?? 'no Content-Type')}</p>${body}</details>`;
}

function h(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
