import { compileRules } from '../policy/select.js';
import type { Rule } from '../policy/rule.js';
import type { Config, RouteConfig } from './config.js';
import { BOTH, certificateFilesOf, securityOf, signingIndex, trustOf } from './security-files.js';
import type { SecurityInput } from './security-schema.js';

/** What an endpoint demands of messages, by rule; for `check`. */
export interface SecurityFacts {
  /** `defaults`, or the partner's. */
  readonly name: string;
  readonly signature: 'required' | 'optional';
  readonly encryption: 'required' | 'optional';
  /** commonName: the signer's CN has to be the From PartyId. any: whoever is trusted may send as anybody. */
  readonly party: 'commonName' | 'any';
  /** Outdated algorithms that are accepted. */
  readonly allow: readonly ('sha1' | 'rsa15')[];
  /** Absent where files were not to be read. */
  readonly trust?: { readonly anchors: number; readonly firstEnds?: string; readonly revocationLists: number };
}

/** A key of our own. What stands in its certificate is absent where files were not to be read. */
export interface KeyFacts {
  readonly use: readonly ('sign' | 'decrypt')[];
  /** The one that signs Receipts and Errors. */
  readonly signs: boolean;
  readonly subject?: string;
  readonly serial?: string;
  readonly notAfter?: string;
}

/** Of a route of role endpoint: the defaults, then each partner, in the order of its rules. */
export function securityFacts(config: Config, route: RouteConfig, readFiles: boolean): readonly SecurityFacts[] {
  const { defaults, partners } = compileRules(route.rules);
  const { security = {} } = config;
  const everybody = trustFacts(security, readFiles);
  return [defaults, ...partners].map((rule) => {
    const own = rule.partner === undefined ? undefined : route.partnerSecurity[rule.partner];
    const given = { ...security, ...own };
    const trust = own?.trust === undefined && own?.crl === undefined ? everybody : trustFacts(given, readFiles);
    return { ...demands(config, rule, given), ...(trust === undefined ? {} : { trust }) };
  });
}

function demands({ endpoint }: Config, { name, unsigned }: Rule, given: SecurityInput): Omit<SecurityFacts, 'trust'> {
  const { signature, encryption, party } = securityOf(endpoint?.profile ?? 'custom', name, { ...given, trust: [], crl: [], certificates: [] });
  return {
    name, encryption,
    signature: unsigned === 'refuse' ? 'required' : signature,
    party: party ?? 'any',
    allow: given.allow ?? [],
  };
}

function trustFacts(given: SecurityInput, readFiles: boolean): SecurityFacts['trust'] {
  if (!readFiles) return undefined;
  const { anchors, revocation = [] } = trustOf(given);
  const first = Math.min(...anchors.map(({ notAfter }) => notAfter));
  return {
    anchors: anchors.length, revocationLists: revocation.length,
    ...(anchors.length === 0 ? {} : { firstEnds: new Date(first).toISOString() }),
  };
}

/** In the order of the file. */
export function keyFacts({ endpoint }: Config, readFiles: boolean): readonly KeyFacts[] {
  const keys = endpoint?.keys ?? [];
  const last = signingIndex(keys);
  return keys.map(({ certificate, use = BOTH }, i) => {
    const [own] = readFiles ? certificateFilesOf([certificate]) : [];
    return {
      use, signs: i === last,
      ...(own === undefined ? {} : {
        subject: own.x509.subject.replaceAll('\n', ', '),
        serial: own.x509.serialNumber,
        notAfter: new Date(own.notAfter).toISOString(),
      }),
    };
  });
}
