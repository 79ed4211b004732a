import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { As4OnceError } from '../errors.js';
import { proveReceipts } from '../receipt/self-test.js';
import type { Assembled } from './config.js';
import type { Loaded } from './load.js';
import { clientTls, serverTls } from './pem-files.js';
import { backendAt } from './check-routes.js';
import { error, warning, type Path, type Problem } from './problem.js';
import { certificateFilesOf, crlOf, identityOf, securityFiles, signingIndex } from './security-files.js';
import type { KeyInput } from './security-schema.js';

/** As long as the alert on our own certificates looks ahead, ms. */
const SOON = 14 * 86_400_000;

/**
 * Whether what the configuration names can be used: every file read, every certificate fitting its key, and the key that
 * signs Receipts seen to sign one. A renewal that is half done, or whose certificate is not valid yet, must not get into
 * force. @throws As4OnceError CONFIG_INVALID naming file, line and field; returns what `check` warns about.
 */
export async function checkFiles(loaded: Loaded, now: number): Promise<readonly Problem[]> {
  return loaded.judged([...tlsProblems(loaded), ...backendProblems(loaded), ...await keyProblems(loaded, now), ...trustProblems(loaded, now)]);
}

/** What `read` throws for the operator, as a problem of the field. */
function faults(code: string, at: Path, read: () => unknown): readonly Problem[] {
  try {
    read();
    return [];
  } catch (thrown) {
    if (!(thrown instanceof As4OnceError) || thrown.code !== 'CONFIG_INVALID') throw thrown;
    return [error(code, at, thrown.detail)];
  }
}

function tlsProblems({ config }: Assembled): readonly Problem[] {
  const { tls, admin, routes } = config;
  const adminTls = admin?.tls;
  return [
    ...(tls === undefined ? [] : unfit(['tls'], () => serverTls(tls))),
    ...(adminTls === undefined ? [] : unfit(['admin', 'tls'], () => serverTls(adminTls))),
    ...routes.flatMap(({ at, upstream, backend }) => [
      ...(upstream?.tls === undefined ? [] : unfit([...at, 'upstream', 'tls'], () => clientTls(upstream.tls ?? {}))),
      ...(backend?.http?.tls === undefined ? [] : unfit([...backendAt(at), 'http', 'tls'], () => clientTls(backend.http?.tls ?? {}))),
    ]),
  ];
}

function unfit(at: Path, context: () => Parameters<typeof createSecureContext>[0]): readonly Problem[] {
  return faults('TLS_FILES', at, () => {
    const read = context();
    try {
      createSecureContext(read);
    } catch (thrown) {
      const why = (thrown as NodeJS.ErrnoException).code ?? 'unreadable';
      throw new As4OnceError('CONFIG_INVALID', `certificate, key or authorities do not fit (${why})`);
    }
  });
}

/** A folder need not exist yet; a file in its place would cost every message a 503. */
function backendProblems({ config }: Assembled): readonly Problem[] {
  return config.routes.flatMap(({ at, backend }): readonly Problem[] => {
    const { directory } = backend ?? {};
    if (directory === undefined) return [];
    const where = [...backendAt(at), 'directory'];
    try {
      return statSync(directory).isDirectory() ? [] : [error('BACKEND_FOLDER', where, `${directory} is a file; give a folder`)];
    } catch (thrown) {
      // asked for by its code: throwIfNoEntry is silent about a file on the way there with Node 24, and is not with Node 20
      const { code = 'error' } = thrown as NodeJS.ErrnoException;
      return code === 'ENOENT' ? [] : [error('BACKEND_FOLDER', where, `${directory} cannot be a folder (${code})`)];
    }
  });
}

/** Every key of our own, and the proof of the one that will sign. */
async function keyProblems({ config }: Assembled, now: number): Promise<readonly Problem[]> {
  const keys = config.role === 'endpoint' ? (config.endpoint?.keys ?? []) : [];
  const problems = keys.flatMap((key, i) => oneKey(key, ['endpoint', 'keys', i]));
  if (keys.length === 0 || problems.length > 0) return problems;
  const last = signingIndex(keys);
  const signing = keys[last];
  if (signing === undefined) return [error('KEYS_SIGN', ['endpoint', 'keys'], 'none of them signs; a Receipt needs one')];
  try {
    await proveReceipts(identityOf(signing), now);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof As4OnceError) || thrown.code !== 'CONFIG_INVALID') throw thrown;
    return [error('KEYS_SIGN', ['endpoint', 'keys', last, 'certificate'], `${signing.certificate}: ${thrown.detail}`)];
  }
}

function oneKey(key: KeyInput, at: Path): readonly Problem[] {
  const certificate = faults('KEY_FILES', [...at, 'certificate'], () => certificateFilesOf([key.certificate]));
  return certificate.length > 0 ? certificate : faults('KEY_FILES', [...at, 'key'], () => identityOf(key));
}

/** The files that signatures are judged by: for everybody, and what differs for single partners. */
function trustProblems(assembled: Assembled, now: number): readonly Problem[] {
  return securityFiles(assembled).flatMap(({ kind, file, at }): readonly Problem[] => {
    if (kind === 'crl') return faults('SECURITY_FILES', at, () => crlOf(file));
    const problems = faults('SECURITY_FILES', at, () => certificateFilesOf([file]));
    if (problems.length > 0 || kind !== 'trust') return problems;
    return certificateFilesOf([file]).filter(({ notAfter }) => notAfter < now + SOON).map(({ x509, notAfter }) =>
      warning(notAfter < now ? 'TRUST_EXPIRED' : 'TRUST_ENDS', at,
        `${file}: ${x509.subject.replaceAll('\n', ', ')} ${notAfter < now ? 'ended' : 'ends'} ${new Date(notAfter).toISOString().slice(0, 10)}; `
        + 'nobody whose path leads there is believed after that'));
  });
}
