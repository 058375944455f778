import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from '../harness/server.js';

type Server = Pick<TestServer, 'request'>;

/** What a server says of its backups. @param name without what those of backups begin with */
export async function backupMetric(server: Server, name: string): Promise<number> {
  const { text } = await server.request('GET', '/metrics');
  return Number(new RegExp(`^spanhouse_backup_${name} (.*)$`, 'm').exec(text)?.[1]);
}

export async function metricAbove(server: Server, name: string, value: number): Promise<void> {
  while (!((await backupMetric(server, name)) > value)) await sleep(50);
}
