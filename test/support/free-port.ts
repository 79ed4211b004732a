import { createServer } from 'node:net';

/**
 * A loopback TCP port that nobody listened on a moment ago. Somebody else may take it before the caller does, so a
 * caller that starts a process on it starts again with another port when the bind fails.
 */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

/** `count` different free ports, all held open until the last one is known. */
export async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(Array.from({ length: count }, async () => {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }));
  const ports = holders.map((server) => (server.address() as { port: number }).port);
  await Promise.all(holders.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
