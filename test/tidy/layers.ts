/**
 * The layers (ARCHITECTURE.md): imports go down only. The first pattern that fits a path of src/ names its layer; a
 * path that fits none is a file nobody has given a place, which the test refuses.
 */
export const LAYERS: readonly (readonly [layer: number, name: string, pattern: RegExp])[] = [
  [0, 'words', /^(errors|limits|clock|events|exchange|message|protocol)\.ts$/],
  [1, 'pure', /^(xml|mime|ebms|edi|reference|policy|receipt|security)\//],
  [1, 'pure', /^ledger\/(port|record|codec|commands|schema|transition|transition\/[\w-]+|shelves)\.ts$/],
  [1, 'pure', /^delivery\/(port|outcome|outcome-[\w-]+|access-points|headers|target|idempotency-key)\.ts$/],
  [2, 'walk', /^(receive|walk|notes|once)\.ts$|^endpoint\//],
  [2, 'walk', /^delivery\/(deliver|wait|replay|refuse|claim|conclude|take-in|second-keys|keep-root)\.ts$/],
  [3, 'adapters', /^ledger\/(redis|embedded)\//],
  [3, 'adapters', /^ledger\/[\w-]+\.ts$/],
  [3, 'adapters', /^delivery\/(upstream|call|read-reply|backend|spool)([\w-]*)(\.ts$|\/)/],
  [4, 'doors', /^(http|admin|config|watch|operate)\//],
  [5, 'root', /^(compose|compose-[\w-]+|open-ledger|index)\.ts$/],
  [5, 'root', /^testing\//],
  [6, 'commands', /^cli\//],
];

/** Which files may use a package: one client library per adapter, and nothing of the kind below. */
export const PACKAGES: Readonly<Record<string, RegExp>> = {
  saxes: /^src\/edi\/|^src\/security\/attachment-digest\.ts$/,
  zod: /^src\/(config|admin)\/|^src\/index\.ts$|^src\/ledger\/schema\.ts$|^conformance\//,
  yaml: /^src\/(config|cli)\/|^conformance\//,
  ioredis: /^src\/ledger\/redis\//,
  redis: /^src\/ledger\/redis\//,
  lmdb: /^src\/ledger\/embedded\//,
  undici: /^src\/delivery\/(upstream|call|backend)/,
  express: /^src\/(http|admin)\/|^src\/cli\/serve\.ts$/,
  pino: /^src\/admin\//,
  'prom-client': /^src\/admin\/|^src\/compose\.ts$/,
  'xml-crypto': /^src\/security\/judge|^conformance\//,
  'fast-xml-parser': /^src\/security\/judge|^conformance\//,
};

/** Built-ins that do no input or output; the pure layer may use these and no others. */
export const PURE_BUILTINS = new Set(['node:crypto', 'node:zlib', 'node:buffer', 'node:util', 'node:string_decoder', 'node:net']);

/** Where the machine's clock and dice may be asked: the clock itself, and engines that are the clock. */
export const CLOCK_KEEPERS = /^src\/clock\.ts$|^src\/ledger\/(redis|embedded)\//;

export function layerOf(pathInSrc: string): { layer: number; name: string } | undefined {
  const found = LAYERS.find(([, , pattern]) => pattern.test(pathInSrc));
  return found === undefined ? undefined : { layer: found[0], name: found[1] };
}
