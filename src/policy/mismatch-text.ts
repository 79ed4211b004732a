import type { ProtocolName } from '../message.js';

/**
 * What is said of a reference that was used before, with other content or (key `reference`) by another sender: since
 * when, and for the counters of EDI the question that usually explains it. `born`: epoch ms of the first one.
 */
export function mismatchText(protocol: ProtocolName, otherSender: boolean, born: number): string {
  const firstSeen = `first seen ${new Date(born).toISOString()}`;
  if (otherSender) return `the same reference was accepted from another sender, ${firstSeen}`;
  switch (protocol) {
    case 'edifact':
    case 'x12':
      return `control number reused, ${firstSeen}; did the partner reset its counter?`;
    case 'sbdh':
      return `identifier reused, ${firstSeen}`;
    case 'as4':
    case 'reference':
      return firstSeen;
  }
}
