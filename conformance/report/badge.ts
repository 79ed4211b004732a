import type { Report } from './schema.js';

/** A shields.io endpoint badge. */
export function badge(report: Report): { schemaVersion: 1; label: string; message: string; color: string } {
  const failed = report.totals.fail + report.totals.error;
  const warned = report.totals.warning;
  const counts = [`${report.totals.pass} passed`];
  if (failed > 0) counts.push(`${failed} failed`);
  if (warned > 0) counts.push(`${warned} warned`);
  return {
    schemaVersion: 1,
    label: 'AS4 duplicates',
    message: counts.join(', '),
    color: !report.ok ? 'red' : warned > 0 ? 'yellow' : 'brightgreen',
  };
}
