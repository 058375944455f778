import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A load balancer for TCP: each connection goes to the next of its targets. */
export interface Balancer {
  readonly url: string;
  /** Addresses that connections go to from now on. */
  targets: readonly string[];
  /** Ends all connections, as a balancer does that is set up anew. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startBalancer(...targets: readonly string[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const { hostname, port } = new URL(balancer.targets[turn++ % balancer.targets.length] ?? '');
    const target = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    cut,
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return balancer;
}
