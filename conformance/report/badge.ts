import type { Report } from './schema.js';

/** A shields.io endpoint badge. */
export function badge(report: Report): { schemaVersion: 1; label: string; message: string; color: string } {
  const failed = report.totals.fail + report.totals.error;
  const warned = report.totals.warning;
  const message = `${report.totals.pass} passed${failed > 0 ? `, ${failed} failed` : ''}${warned > 0 ? `, ${warned} warned` : ''}`;
  return { schemaVersion: 1, label: 'AS4 duplicates', message, color: !report.ok ? 'red' : warned > 0 ? 'yellow' : 'brightgreen' };
}
