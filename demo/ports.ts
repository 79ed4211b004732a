import { createServer } from 'node:net';

/** `wanted` if nobody listens there, otherwise any free port of the loopback interface. */
export async function portNear(wanted: number): Promise<number> {
  return (await bindable(wanted)) ?? (await bindable(0)) ?? wanted;
}

function bindable(port: number): Promise<number | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
