/** xs:dateTime (XML Schema 2, 3.2.7) to epoch milliseconds, UTC without a zone (Core 5.2.2.1); else undefined. */
export function epochOf(value: string): number | undefined {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(value.trim());
  if (found === null) return undefined;
  const [, seconds, fraction = '', zone = 'Z'] = found;
  // Date.parse takes three digits; senders write up to seven, or one.
  const epoch = Date.parse(`${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}`);
  return Number.isNaN(epoch) ? undefined : epoch;
}
