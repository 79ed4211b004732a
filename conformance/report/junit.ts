import { escapeAttribute, escapeText } from '../as4/xml.js';
import type { Report, ReportResult } from './schema.js';

/** JUnit XML: one suite for each document, so that a build server groups by standard. */
export function junitReport(report: Report): string {
  const documents = [...new Set(report.results.map(({ document }) => document))];
  const suites = documents.map((document) => {
    const results = report.results.filter((result) => result.document === document);
    const count = (test: (result: ReportResult) => boolean) => results.filter(test).length;
    const seconds = results.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
    return [
      `  <testsuite name="${attribute(document)}" tests="${results.length}" failures="${count(failed)}" ` +
      `errors="${count(({ verdict }) => verdict === 'error')}" skipped="${count(skipped)}" time="${seconds}">`,
      ...results.map((result) => testCase(report, result)),
      '  </testsuite>',
    ].join('\n');
  });
  return '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ' +
    `name="${attribute(`as4-once-conformance: ${report.target.name}`)}">\n${suites.join('\n')}\n</testsuites>\n`;
}

function failed(result: ReportResult): boolean {
  return result.unexpected !== undefined || (result.verdict === 'fail' && result.known === undefined);
}

function skipped({ verdict }: ReportResult): boolean {
  return verdict === 'skipped' || verdict === 'blocked';
}

function testCase(report: Report, result: ReportResult): string {
  const open = `    <testcase classname="${attribute(`${result.document} ${result.section}`)}" ` +
    `name="${attribute(`${result.id} ${result.title}`)}" time="${result.ms / 1_000}">`;
  const body: string[] = [];
  const why = result.unexpected ?? result.detail;
  if (failed(result) || (report.strict && result.verdict === 'warning' && result.known === undefined)) {
    body.push(
      `      <failure message="${attribute(why)}` +
      `">${text(`${result.says}\nsent: ${result.sends}\nexpected: ${result.expects}\nseen: ${result.detail}`)}` +
      '</failure>',
    );
  } else if (result.verdict === 'error') body.push(`      <error message="${attribute(why)}"/>`);
  else if (skipped(result)) body.push(`      <skipped message="${attribute(why)}"/>`);
  else if (why !== '') body.push(`      <system-out>${text(`${result.verdict}: ${why}`)}</system-out>`);
  return body.length === 0 ? open.replace(/>$/, '/>') : [open, ...body, '    </testcase>'].join('\n');
}

/** XML 1.0 has no form for most control characters, and a hostile answer may hold any. */
function clean(value: string): string {
  // eslint-disable-next-line no-control-regex
  return value
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[\ud800-\udfff]/gu, '\ufffd');
}

function attribute(value: string): string {
  return escapeAttribute(clean(value));
}

function text(value: string): string {
  return escapeText(clean(value));
}
