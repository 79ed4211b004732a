/** What a front's and an endpoint's first configuration have in common (init). */

/** The ledger, the state beside it, and where the defaults begin. */
export function ledgerPart(redis: string | undefined): string {
  return `# Where it is remembered what was accepted, and which Receipt was sent.
ledger:
${ledgerLines(redis)}

# What this machine has seen of the ledger, outside of it: so that a ledger restored from a copy is noticed.
state: ./as4-once-state

defaults:
  # How long a message is remembered, from its first copy on. Longer than the longest time after which a partner retries.
  window: 90d
`;
}

function ledgerLines(redis: string | undefined): string {
  return `${
  redis === undefined
    ? `  embedded: ./as4-once-data        # one machine, any number of processes, nothing to install
  # redis: "redis://127.0.0.1:6379"  # several machines; Redis 7 with appendonly yes and maxmemory-policy noeviction`
    : `  redis: ${JSON.stringify(redis)}   # Redis 7 with appendonly yes and maxmemory-policy noeviction
  # embedded: ./as4-once-data      # one machine, any number of processes, nothing to install`
}
  # strict: true                   # answer 503 rather than work with a store that may forget or that went back in time
  # maxBytes: 20 GiB               # take no new messages beyond this size; see as4-once check --rate 100000/day`;
}

export const OPERATORS_PART = `# Health, metrics, dashboard and API, for operators only. The token is needed for everything that writes.
admin:
  listen: 127.0.0.1:9464
  # tokenFile: /etc/as4-once/admin-token

log:
  level: info                      # one JSON line for each message
  # file: /var/log/as4-once.log    # default: standard output
`;
