import express, { type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { Health } from './health.js';

export interface AdminParts {
  readonly registry: Registry;
  health(): Promise<Health>;
  /** False from SIGTERM on, so that a load balancer sends nothing new. */
  ready(): boolean;
  /** The JSON API, and the page that is made of it. */
  readonly api?: RequestHandler;
  readonly dashboard?: RequestHandler;
}

/**
 * The operator's listener. `/healthz`: this process lives. `/readyz`: it takes requests; the loss of a shared ledger does
 * not make it unready, since every node would go at once and senders would see connection errors instead of 503.
 * `/healthz/ledger`: 503 while the ledger is down. `/metrics`: Prometheus. `/api`: the
 * JSON API (docs/admin-api.md). `/`: the dashboard.
 */
export function adminApp(parts: AdminParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', async (_request, response) => {
    response.json(await parts.health());
  });
  app.get('/readyz', (_request, response) => {
    const ready = parts.ready();
    response.status(ready ? 200 : 503).json({ ready });
  });
  app.get('/healthz/ledger', async (_request, response) => {
    const health = await parts.health();
    response.status(health.ledger.up ? 200 : 503).json(health);
  });
  app.get('/metrics', async (_request, response) => {
    response.type(parts.registry.contentType).send(await parts.registry.metrics());
  });
  if (parts.api !== undefined) app.use('/api', parts.api);
  if (parts.dashboard !== undefined) app.use(parts.dashboard);
  return app;
}
