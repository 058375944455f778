/**
 * How many more evaluations a project may queue. Any project may fill the queue up; once it is full, a project that has less
 * waiting than an equal share of it still has room up to that share, so that no project keeps others out.
 * @param queued how many are waiting, by project
 * @param max how many the queue holds
 */
export function queueQuota(projectId: string, queued: ReadonlyMap<string, number>, max: number): number {
  const own = queued.get(projectId) ?? 0;
  const all = [...queued.values()].reduce((sum, each) => sum + each, 0);
  const projects = queued.size + (queued.has(projectId) ? 0 : 1);
  const share = Math.max(1, Math.floor(max / projects));
  return Math.max(0, max - all, share - own);
}
