import { setTimeout as sleep } from 'node:timers/promises';

/** A server, or a program. */
interface Server {
  readonly url: string;
}

/** What a server says of its backups. @param name without what those of backups begin with */
export async function backupMetric({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^spanhouse_backup_${name} (.*)$`, 'm').exec(text)?.[1]);
}

export async function metricAbove(server: Server, name: string, value: number): Promise<void> {
  while (!((await backupMetric(server, name)) > value)) await sleep(50);
}
