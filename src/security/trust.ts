import type { Certificate } from './certificate.js';
import type { RevocationList } from './revocation.js';

/** Whom a P-Mode believes. */
export interface Trust {
  /** Roots, intermediates or single partners' certificates. A path has to end in one of them; one alone is a path. */
  readonly anchors: readonly Certificate[];
  /** Certificates that may stand between, but are believed only if a path leads through them to an anchor. */
  readonly intermediates?: readonly Certificate[];
  /**
   * Revocation lists; a certificate whose issuer has no list here is not asked about. A list counts where its issuer's
   * certificate is at hand (anchor, intermediate, or of the path), since that is what proves it.
   */
  readonly revocation?: readonly RevocationList[];
  /** How far a certificate's validity may be off, ms; 0 unless given. */
  readonly skewMs?: number;
}

export type TrustReason = 'untrusted' | 'expired' | 'notYetValid' | 'revoked' | 'revocationStale';
export type TrustAnswer =
  | {
    readonly ok: true;
    readonly path: readonly Certificate[];
    /** When the answer may become another one: a certificate of the path or a list that spoke for it ends, epoch ms. */
    readonly until: number;
  }
  | { readonly ok: false; readonly reason: TrustReason; readonly detail: string };

/** Certificates between a signer and its anchor, and signatures tried before the search is given up. */
const MAX_PATH = 6;
const MAX_TRIES = 24;

const refuse = (reason: TrustReason, detail: string): TrustAnswer => ({ ok: false, reason, detail });

/**
 * Looks for a path from the certificate to an anchor and checks it (RFC 5280 6, without policies and name constraints:
 * a critical extension that is not understood ends the path). `offered` came with the message (PKIPath) and is only
 * material for the search. Every certificate of the path, the anchor included, has to be valid at `now`, epoch ms.
 */
export function checkTrust(
  certificate: Certificate, offered: readonly Certificate[], trust: Trust, now: number,
): TrustAnswer {
  const anchors = new Set(trust.anchors.map((a) => a.fingerprint));
  const candidates = [...trust.anchors, ...(trust.intermediates ?? []), ...offered.slice(0, MAX_PATH)];
  const path = search(certificate, { anchors, candidates, tries: MAX_TRIES });
  if (path === undefined) return refuse('untrusted', `no path from ${certificate.subject.text} to a trust anchor`);
  let until = Number.POSITIVE_INFINITY;
  for (const [i, one] of path.entries()) {
    if (now - (trust.skewMs ?? 0) > one.notAfter) {
      return refuse('expired', `${one.subject.text} expired ${new Date(one.notAfter).toISOString()}`);
    }
    if (now + (trust.skewMs ?? 0) < one.notBefore) {
      return refuse('notYetValid', `${one.subject.text} is valid from ${new Date(one.notBefore).toISOString()}`);
    }
    const issuer = path[i + 1] ?? issuerBeside(one, candidates, trust.revocation ?? []);
    const revocation = issuer === undefined ? FOR_EVER : revocationOf(one, issuer, trust.revocation ?? [], now);
    if (typeof revocation !== 'number') return revocation;
    until = Math.min(until, one.notAfter + (trust.skewMs ?? 0), revocation);
  }
  return { ok: true, path, until };
}

const FOR_EVER = Number.POSITIVE_INFINITY;

interface Search {
  readonly anchors: ReadonlySet<string>;
  readonly candidates: readonly Certificate[];
  tries: number;
}

/** Depth first; every signature check is counted, so that hostile paths cost a bounded time. */
function search(
  from: Certificate, state: Search, below: readonly Certificate[] = [],
): readonly Certificate[] | undefined {
  const path = [...below, from];
  if (state.anchors.has(from.fingerprint)) return path;
  if (path.length > MAX_PATH || from.weaklySigned || from.unknownCritical.length > 0) return undefined;
  for (const issuer of state.candidates) {
    const usable = issuer.authority && issuer.subject.text === from.issuer.text && issuer.unknownCritical.length === 0
      && issuer.pathLength >= below.length && !path.some((c) => c.fingerprint === issuer.fingerprint);
    if (!usable || state.tries-- <= 0 || !issued(issuer, from)) continue;
    const found = search(issuer, state, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Who issued the anchor in which a path ends. The path needs nobody above it, but whoever pins a partner's certificate
 * beside its authority, with that authority's list, wants the list to hold. Nobody is looked for where no list has that name.
 */
function issuerBeside(
  anchor: Certificate, candidates: readonly Certificate[], lists: readonly RevocationList[],
): Certificate | undefined {
  if (!lists.some((list) => list.issuer === anchor.issuer.text)) return undefined;
  return candidates.find((one) => one.fingerprint !== anchor.fingerprint && one.subject.text === anchor.issuer.text
    && one.authority && issued(one, anchor));
}

const proven = new Map<string, boolean>();
const PROVEN = 1_024;

/** Whether the issuer's key signed the certificate; remembered, since the same partners come again and again. */
function issued(issuer: Certificate, certificate: Certificate): boolean {
  const pair = `${issuer.fingerprint} ${certificate.fingerprint}`;
  const known = proven.get(pair);
  if (known !== undefined) return known;
  const answer = certificate.x509.verify(issuer.publicKey);
  const [oldest] = proven.keys();
  if (oldest !== undefined && proven.size >= PROVEN) proven.delete(oldest);
  proven.set(pair, answer);
  return answer;
}

/** What speaks against the certificate; otherwise until when the lists that were asked are in force. */
function revocationOf(
  certificate: Certificate, issuer: Certificate, lists: readonly RevocationList[], now: number,
): TrustAnswer | number {
  const ours = lists.filter((list) => list.issuer === certificate.issuer.text && list.signedBy(issuer));
  if (ours.some((list) => list.revoked.has(certificate.serial))) {
    return refuse('revoked', `${certificate.subject.text} (serial ${certificate.serial.toString(16)}) is revoked`);
  }
  if (ours.length > 0 && ours.every((list) => list.nextUpdate !== undefined && list.nextUpdate < now)) {
    return refuse('revocationStale', `the revocation list of ${issuer.subject.text} is out of date`);
  }
  return ours.length === 0 ? FOR_EVER : Math.max(...ours.map((list) => list.nextUpdate ?? FOR_EVER));
}
