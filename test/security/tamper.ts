/** How a forger takes an honest envelope apart; shared by the tests of verification and those of the whole endpoint. */

export const find = (text: string, pattern: RegExp): string => pattern.exec(text)?.[0] ?? ((): never => { throw new Error(`no ${pattern}`); })();
export const MESSAGING = /<eb:Messaging[^]*<\/eb:Messaging>/;
export const BODY = /<(\w+):Body[^>]*(\/>|>[^]*<\/\1:Body>)/;
export const BST = /<wsse:BinarySecurityToken[^]*?<\/wsse:BinarySecurityToken>/;
export const SIGNATURE = /<ds:Signature [^]*<\/ds:Signature>/;
export const REFERENCE = /<ds:Reference [^]*?<\/ds:Reference>/;

export const before = (text: string, end: RegExp, what: string): string => text.replace(end, (m) => what + m);
export const evil = (messaging: string): string => messaging.replace(/<eb:MessageId>[^<]*/, '<eb:MessageId>evil@x');
export const withoutId = (element: string): string => element.replace(/ wsu:Id="[^"]*"/, '');
export const otherId = (element: string): string => element.replace(/ wsu:Id="[^"]*"/, ' wsu:Id="other"');

const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
/** A token that may stand outside of the security header, whose declaration it had. */
export const declared = (token: string): string => token.replace('<wsse:BinarySecurityToken', `<wsse:BinarySecurityToken xmlns:wsse="${WSSE}"`);
export const withToken = (e: string, certificate: { readonly raw: Buffer }): string =>
  e.replace(/(<wsse:BinarySecurityToken[^>]*>)[^<]*/, (_m, open: string) => `${open}${certificate.raw.toString('base64')}`);

export const sha1Digests = (e: string): string => e.replaceAll('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1');
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const signedBy = (e: string, algorithm: string): string => e.replace(RSA_SHA256, algorithm);
export const RSA_SHA1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
export const HMAC_SHA1 = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1';
