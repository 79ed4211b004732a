import { accessPoint, type AccessPointName } from '../delivery/access-points.js';
import { formatDuration } from '../policy/duration.js';
import { ledgerPart, OPERATORS_PART } from './template-parts.js';

export interface InitChoices {
  readonly accessPoint: AccessPointName;
  readonly upstream: string;
  readonly listen: string;
  readonly redis?: string;
  /** Where the JSON Schema of the file lies, for editors. */
  readonly schema: string;
}

/** What was seen of each access point, as far as it decides a setting. Its cookbook page has the rest. */
const NOTES: Readonly<Record<AccessPointName, readonly string[]>> = {
  phase4: [
    'phase4 registers an id before it delivers. With its own duplicate detection on, a delivery that fails burns the id',
    'for its window, and the retry is answered with its duplicate error (as4-once then answers 503 and raises an alert).',
    'Its memory is lost at a restart unless it keeps duplicates in a database: set upstream.persistent then.',
  ],
  'phoss-ap': [
    'phoss-ap keeps its duplicates in a database: its memory survives a restart. Read in its source, not run.',
  ],
  holodeck: [
    'Holodeck burns the id of a message whose transfer broke, or whose signature failed: the good copy after it gets an',
    'empty 202. Consider verify: signature (with security.trust), so that a forged copy never reaches it. Concurrent',
    'copies are delivered several times by Holodeck itself; as4-once hands it one at a time.',
  ],
  domibus: [
    'Domibus keeps the messages themselves, so it recognises an id as long as its retention. Read in its source, not run.',
  ],
  oxalis: [
    'Oxalis delivers every copy and makes a new Receipt for each. After an attempt without a certain outcome nothing but',
    'an operator can tell whether it has the message, so such messages are held (uncertain: auto).',
  ],
  other: [
    'Nothing is known of this access point: it is taken to remember nothing, so messages are held after an attempt',
    'without a certain outcome (uncertain: auto). If it recognises copies itself, say how long: upstream.remembers.',
  ],
};

/** A configuration to begin with, in shadow: every line says what it is for, and it loads as it stands. */
export function initTemplate({ accessPoint: name, upstream, listen, redis, schema }: InitChoices): string {
  const { remembersMs, persistent, notReached } = accessPoint(name);
  const remembers =
    remembersMs === 0
      ? 'recognises no id itself'
      : `recognises an id for ${formatDuration(remembersMs)}${persistent ? ', also after a restart' : ', until it restarts'}`;
  return `# yaml-language-server: $schema=${schema}
# as4-once before ${name === 'other' ? 'an access point' : name}. Made by: as4-once init --access-point ${name}
# Check it:  as4-once check --config FILE      Run it:  as4-once serve --config FILE
# Every key is explained in the schema above, which editors read.

role: front

# Where partners' messages arrive. Point the partners' URL, or your reverse proxy, here instead of at the access point.
listen: ${listen}

# The access point behind it: requests go on byte for byte, to the same path.
upstream:
  url: ${upstream}
  # remembers: ${formatDuration(remembersMs)}        # how long it recognises a MessageId itself
  # persistent: ${String(persistent)}    # whether that survives its restart
  # notReached: [${notReached.join(', ')}]   # statuses that prove that it did not take the message

# What as4-once may expect of it: it ${remembers}.
${NOTES[name].map((line) => `# ${line}\n`).join('')}accessPoint: ${name}

${ledgerPart(redis)}  # shadow: everything goes on, nothing is answered by us, and as4-once report --shadow says what eliminate would have
  # done. Begin so; after two weeks import what the access point has taken (as4-once import) and write eliminate here.
  mode: shadow
  # After an attempt without a certain outcome (a reset, a timeout). auto: redeliver, marked, while the access point
  # itself remembers the id; hold for an operator afterwards. Also: redeliver, hold.
  uncertain: auto
  # The same id with other content. refuse: an ebMS Error, never a Receipt. Also: replay, deliver-flagged.
  mismatch: refuse
  # What was imported without its Receipt: pass it on, marked, or hold it for an operator.
  known: pass
  # keepHeader: 30d                # keep the original SOAP part so long, for as4-once evidence

# What differs for some partners; the most specific one counts.
# partners:
#   - match: { from: POP000123 }
#     window: 180d

${OPERATORS_PART}`;
}
