import { createHash } from 'node:crypto';
import { compare, readFigures, type AllFigures } from '../scripts/transfer/figures.js';
import { Remote } from '../scripts/transfer/remote.js';
import { FILLED, type Project } from './years-data.js';

/** What the lists of a project say. */
export interface Said {
  /** Counts, sums and percentiles over all. */
  readonly figures: AllFigures;
  /** Hashes of first rows, by the list's query. */
  readonly rows: Readonly<Record<string, string>>;
}

/** What is made anew with each project that is made. */
const OWN_TO_PROJECT = new Set(['project_id', 'created_at']);
const SORTED = [
  '/spans?sort_by=cost&limit=200&internal=true',
  '/spans?sort_by=duration_ms&limit=200&internal=true',
  '/spans?has_error=true&limit=200&internal=true',
  '/traces?sort_by=cost&limit=200&internal=true',
  '/traces?sort_by=duration_ms&limit=200&internal=true',
  '/traces?sort_by=started_at&sort_order=asc&limit=200&internal=true',
  '/sessions?sort_by=cost&limit=200',
  '/sessions?sort_by=duration&limit=200',
] as const;

export async function said(url: string, { key }: Project): Promise<Said> {
  const remote = new Remote(url, key);
  const rows: Record<string, string> = {};
  for (const path of SORTED) rows[path] = hashOf(await remote.get<unknown[]>(path));
  return { figures: await readFigures(remote), rows };
}

/** What is said of the projects that were filled, by their names. */
export async function saidOfAll(url: string): Promise<Map<string, Said>> {
  const all = new Map<string, Said>();
  for (const project of Object.values(FILLED)) all.set(project.name, await said(url, project));
  return all;
}

/** @returns how many figures are equal @throws Error when one differs */
export function requireSame(project: string, before: Said, after: Said): number {
  const figures = compare(before.figures, after.figures);
  const rows = Object.entries(before.rows).map(([path, hash]) => ({ path, same: after.rows[path] === hash }));
  const different = [
    ...figures.flatMap(({ figure, file, project: now, same }) =>
      same ? [] : [`${figure}: ${String(file)} before, ${String(now)} after`],
    ),
    ...rows.flatMap(({ path, same }) => (same ? [] : [`rows of ${path} differ`])),
  ];
  if (different.length > 0) throw new Error(`the lists of the project ${project} differ:\n${different.join('\n')}`);
  return figures.length + rows.length;
}

/** @returns how many figures are equal @throws Error when one differs */
export function requireAllSame(before: ReadonlyMap<string, Said>, after: ReadonlyMap<string, Said>): number {
  return [...before].reduce((sum, [name, of]) => {
    const now = after.get(name);
    if (now === undefined) throw new Error(`nothing is said of the project ${name}`);
    return sum + requireSame(name, of, now);
  }, 0);
}

function hashOf(rows: readonly unknown[]): string {
  const text = JSON.stringify(rows, (name, value: unknown) => (OWN_TO_PROJECT.has(name) ? undefined : value));
  return createHash('sha256').update(text).digest('hex');
}
