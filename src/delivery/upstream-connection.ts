import { isIP, Socket } from 'node:net';
import { buildConnector } from 'undici';
import { bearInterim } from './upstream-interim.js';

/** For https: trust anchors, client certificate and key (PEM), and the name to expect instead of the URL's host. */
export interface UpstreamTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

/** Opens connections to the upstream, HTTP/1.1 only. `timeout`: for one connection, TLS included, ms. */
export function connector(url: URL, tls: UpstreamTls | undefined, timeout: number): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout, ...tls });
  // undici takes the name to verify from the Host field, which is the sender's where preserveHost says so
  const servername = tls?.servername ?? (isIP(bare(url.hostname)) === 0 ? url.hostname : undefined);
  return ({ servername: _sendersChoice, ...rest }, callback) => {
    connect(servername === undefined ? rest : { ...rest, servername }, (...answer) => {
      const [, socket] = answer;
      if (socket instanceof Socket) bearInterim(socket);
      // the alert that refuses our certificate is followed by the end of the connection, which would hide it
      socket?.prependListener('error', (error) => {
        if (isCertificateAlert(error)) socket.destroy(error);
      });
      callback(...answer);
    });
  };
}

/**
 * Under TLS 1.3 our side of the handshake is done before the other has looked at our certificate, so its refusal comes
 * as an alert after the first bytes of the request; they were never read as HTTP.
 */
export function isCertificateAlert(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  return /^ERR_SSL_.*ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(code);
}

/** Without the brackets of an IPv6 literal. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
