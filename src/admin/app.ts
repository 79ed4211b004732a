import express, { type Express } from 'express';
import type { Registry } from 'prom-client';
import type { Health } from './health.js';

export interface AdminParts {
  readonly registry: Registry;
  health(): Promise<Health>;
  /** False from SIGTERM on, so that a load balancer sends nothing new. */
  ready(): boolean;
}

/**
 * The operator's listener. `/healthz`: this process lives. `/readyz`: it takes requests; the loss of a shared ledger does
 * not make it unready, since every node would go at once and senders would see connection errors instead of 503.
 * `/healthz/ledger`: 503 while the ledger is down. `/metrics`: Prometheus.
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
  return app;
}
