/** The smallest file of the README, as it stands there. */
export const SMALLEST = `role: front
listen: 127.0.0.1:8080
upstream: http://127.0.0.1:8081/as4
accessPoint: phase4
ledger: { embedded: ./data }        # or { redis: "redis://127.0.0.1:6379" }
defaults: { window: 90d }
partners:
  - match: { from: POP000123 }
    window: 180d
`;
