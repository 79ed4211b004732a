import { attribute, type XmlElement } from '../xml/tree.js';
import { certificateWritten, pathOf, type Certificate } from './certificate.js';
import { namesWritten } from './distinguished-name.js';
import { NS, TOKEN } from './algorithms.js';
import { base64Of, leafText } from './signature.js';

/** How ds:KeyInfo names a certificate (WS-Security X.509 Token Profile 1.1, 3.2). */
export type TokenForm = 'binaryToken' | 'path' | 'keyIdentifier' | 'thumbprint' | 'issuerSerial' | 'embedded';

export interface Token {
  readonly form: TokenForm;
  readonly certificate: Certificate;
  /** Other configured certificates of the very key that was named: one that replaces another keeps its key identifier. */
  readonly twins: readonly Certificate[];
  /** Further certificates that came along (PKIPath), end entity excluded. Material only, nothing believes them. */
  readonly path: readonly Certificate[];
}

const NONE: readonly never[] = [];

/** What is searched: the security header that holds the tokens, and the certificates one knows by configuration. */
export interface TokenScope {
  readonly security: XmlElement;
  readonly ids: ReadonlyMap<string, XmlElement>;
  readonly known: readonly Certificate[];
}

/**
 * Resolves a ds:KeyInfo to one key and its certificate. A string says why not. A BinarySecurityToken has to be a child of the same
 * security header; identifiers and issuer with serial number are looked up among the known certificates only.
 */
export function resolveToken(keyInfo: XmlElement, scope: TokenScope): Token | string {
  const inner = only(keyInfo);
  if (inner === undefined) return 'KeyInfo has not exactly one child';
  if (inner.uri === NS.wsse && inner.local === 'SecurityTokenReference') {
    const named = only(inner);
    return named === undefined ? 'SecurityTokenReference has not exactly one child' : fromNamed(named, scope);
  }
  return inner.uri === NS.ds && inner.local === 'X509Data' ? fromX509Data(inner, scope) : `KeyInfo by ${inner.name}`;
}

function fromNamed(named: XmlElement, scope: TokenScope): Token | string {
  if (named.uri === NS.ds && named.local === 'X509Data') return fromX509Data(named, scope);
  if (named.uri !== NS.wsse) return `token named by ${named.name}`;
  if (named.local === 'Reference') {
    const uri = attribute(named, '', 'URI') ?? '';
    const token = uri.startsWith('#') ? scope.ids.get(uri.slice(1)) : undefined;
    if (token?.parent !== scope.security || token.uri !== NS.wsse || token.local !== 'BinarySecurityToken') {
      return `no BinarySecurityToken ${uri.slice(0, 100)} in the security header`;
    }
    return fromBinary(token, attribute(token, '', 'ValueType') ?? TOKEN.x509v3);
  }
  if (named.local !== 'KeyIdentifier') return `token named by ${named.name}`;
  const type = attribute(named, '', 'ValueType') ?? '';
  if (type === TOKEN.x509v3) return fromBinary(named, type);
  const value = base64Of(named);
  if (value === undefined) return 'KeyIdentifier is not base64';
  const wanted = Buffer.from(value).toString('base64');
  if (type === TOKEN.keyIdentifier) {
    return byKeyIdentifier(wanted, scope);
  }
  if (type === TOKEN.thumbprint) {
    return among(scope.known.filter((c) => c.thumbprint === wanted), 'thumbprint', `thumbprint ${wanted.slice(0, 60)}`);
  }
  return `KeyIdentifier of type ${type.slice(0, 200)}`;
}

function fromBinary(token: XmlElement, type: string): Token | string {
  if (type === TOKEN.pkiPath) {
    const [certificate, ...path] = pathOf(base64Of(token) ?? new Uint8Array()) ?? [];
    return certificate === undefined ? 'BinarySecurityToken is not a PKIPath' : { form: 'path', certificate, twins: NONE, path };
  }
  if (type !== TOKEN.x509v3) return `BinarySecurityToken of type ${type.slice(0, 200)}`;
  const certificate = certificateIn(token);
  return certificate === undefined
    ? 'BinarySecurityToken is not a certificate' : { form: 'binaryToken', certificate, twins: NONE, path: NONE };
}

/** The certificate that an element holds in base64, and holds alone. */
function certificateIn(element: XmlElement): Certificate | undefined {
  const text = leafText(element);
  return text === undefined ? undefined : certificateWritten(text, () => base64Of(element));
}

function fromX509Data(data: XmlElement, scope: TokenScope): Token | string {
  const one = only(data);
  if (one?.uri !== NS.ds) return 'X509Data has not exactly one child';
  if (one.local === 'X509Certificate') {
    const certificate = certificateIn(one);
    return certificate === undefined
      ? 'X509Certificate is not a certificate' : { form: 'embedded', certificate, twins: NONE, path: NONE };
  }
  if (one.local === 'X509SKI') {
    const wanted = Buffer.from(base64Of(one) ?? []).toString('base64');
    return byKeyIdentifier(wanted, scope);
  }
  if (one.local !== 'X509IssuerSerial') return `X509Data by ${one.local}`;
  const [name, number] = one.children.filter((n): n is XmlElement => n.kind === 'element');
  const issuer = name?.local === 'X509IssuerName' ? leafText(name)?.trim() : undefined;
  const serial = number?.local === 'X509SerialNumber' ? leafText(number)?.trim() : undefined;
  if (issuer === undefined || serial === undefined || !/^-?\d{1,60}$/.test(serial)) {
    return 'X509IssuerSerial cannot be read';
  }
  const names = namesWritten(issuer) ?? [];
  const found = scope.known.filter((c) => c.serial === BigInt(serial) && names.includes(c.issuer.text));
  return among(found, 'issuerSerial', `issuer ${issuer.slice(0, 200)} and serial ${serial}`);
}

function byKeyIdentifier(wanted: string, scope: TokenScope): Token | string {
  const found = scope.known.filter((c) => c.keyIdentifier === wanted);
  return among(found, 'keyIdentifier', `key identifier ${wanted.slice(0, 60)}`);
}

function among(found: readonly Certificate[], form: TokenForm, what: string): Token | string {
  const [certificate] = found;
  if (certificate === undefined) return `no configured certificate has ${what}`;
  const twins = found.filter((c) => c.fingerprint !== certificate.fingerprint);
  if (twins.some((c) => form !== 'keyIdentifier' || !c.publicKey.equals(certificate.publicKey))) {
    return `several configured certificates have ${what}`;
  }
  return { form, certificate, twins, path: NONE };
}

/** The one child element, or undefined where there is none or more than one. */
export function only(parent: XmlElement): XmlElement | undefined {
  const found = parent.children.filter((n): n is XmlElement => n.kind === 'element');
  return found.length === 1 ? found[0] : undefined;
}
