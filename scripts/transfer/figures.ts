import type { Remote } from './remote.js';

const LISTS = { spans: '?internal=true', traces: '?internal=true', sessions: '' } as const;
type List = keyof typeof LISTS;

/** What is said of all objects of a list, by name: counts, sums and percentiles. */
export type Figures = Readonly<Record<string, number | null>>;
export type AllFigures = Readonly<Record<List, Figures>>;

/** The figures of all lists of the key's project. */
export async function readFigures(remote: Remote): Promise<AllFigures> {
  const read = async (list: List) => {
    const { totals } = await remote.get<{ totals: object }>(`/${list}:stats${LISTS[list]}`);
    return flat(totals);
  };
  return { spans: await read('spans'), traces: await read('traces'), sessions: await read('sessions') };
}

export interface Comparison {
  readonly figure: string;
  readonly file: number | null;
  readonly project: number | null;
  readonly same: boolean;
}

/** The figures of a file beside those of a project. */
export function compare(file: AllFigures, project: AllFigures): Comparison[] {
  return (Object.keys(LISTS) as List[]).flatMap((list) =>
    [...new Set([...Object.keys(file[list] ?? {}), ...Object.keys(project[list])])].map((name) => {
      const [expected, found] = [file[list]?.[name] ?? null, project[list][name] ?? null];
      return { figure: `${list} ${name}`, file: expected, project: found, same: expected === found };
    }),
  );
}

/** Members at any depth, under names of all that leads to them. */
function flat(members: object, before = ''): Figures {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(flat(value, `${before}${name} `))
        : [[before + name, value as number | null]],
    ),
  );
}
