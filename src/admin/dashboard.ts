import express, { type RequestHandler } from 'express';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/**
 * The page may load its own files and ask its own listener, and nothing else: no other origin, no inline script or
 * style, no frame around it. Trusted Types make the browser refuse to read any text as HTML.
 */
const POLICY = [
  'default-src \'none\'', 'script-src \'self\'', 'style-src \'self\'', 'img-src \'self\'', 'connect-src \'self\'',
  'base-uri \'none\'', 'form-action \'none\'', 'frame-ancestors \'none\'', 'require-trusted-types-for \'script\'', 'trusted-types \'none\'',
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-cache',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Where the page's files lie: plain files of the package, served as they are. */
export const DASHBOARD_FOLDER = join(packageRoot(), 'src', 'admin', 'dashboard');

/** The dashboard at /. It holds no data itself; all of that comes from the API, with its rules of who may see what. */
export function dashboard(folder: string = DASHBOARD_FOLDER): RequestHandler {
  return express.static(folder, { index: 'index.html', dotfiles: 'ignore', redirect: false, setHeaders: (response) => void response.set(HEADERS) });
}
