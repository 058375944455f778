/*
 * Where a value lies in the JSON of a span: a part of JSONPath (RFC 9535), without filters and slices, so that one walk finds what
 * any number of paths mean.
 */

/** A step of a path: to a member, to an element, or to any of them. */
export interface Step {
  /** Undefined: any. */
  readonly key?: string | number;
  /** Whether it may lie anywhere below. */
  readonly deep: boolean;
}

/** Most steps of a path. */
const MAX_STEPS = 20;

const STEP =
  /(?<deep>\.\.)?(?:(?<=\.\.)(?<below>[\p{L}_][\p{L}\p{N}_-]*)|\.(?<name>[\p{L}_][\p{L}\p{N}_-]*)|(?<any>\.\*|\[\*\])|\[(?<index>0|[1-9]\d{0,8})\]|\[(?<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\])/uy;

/** Reads a path. @returns what is wrong with it, as a sentence goes on behind "path" */
export function readPath(path: string): readonly Step[] | string {
  if (!path.startsWith('$')) return 'must begin with $';
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const groups = STEP.exec(path)?.groups;
    if (groups === undefined) return `must be a JSON path: ${JSON.stringify(path.slice(at, at + 20))} is none`;
    const { deep, below, name, any, index, quoted } = groups;
    const isDeep = deep !== undefined;
    if (any !== undefined && isDeep) return 'must name what lies anywhere below, such as $..password';
    if (any !== undefined) steps.push({ deep: false });
    else if (index !== undefined) steps.push({ key: Number(index), deep: isDeep });
    else steps.push({ key: below ?? name ?? unquoted(quoted ?? ''), deep: isDeep });
  }
  if (steps.length === 0) return 'must name a value, such as $.attributes.password';
  if (steps.length > MAX_STEPS) return `must have at most ${MAX_STEPS} steps`;
  return steps;
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** How far a walk is along each of several paths. */
export type Places = ReadonlySet<number>;

/** Place of a step of a path, as a number. */
const placeOf = (path: number, step: number) => path * (MAX_STEPS + 1) + step;

/** Where paths are behind a step, and the first that ends there. */
export interface Next {
  readonly places: Places;
  readonly ends: number | null;
}

/** Most places whose next ones are known. */
const MAX_KNOWN = 1_000;
/** Stands for any member that no path names. */
const UNNAMED = Symbol('unnamed');

/** Several paths, gone along at once: a step takes as long for many paths as for one, once it is known. */
export class Paths {
  readonly #paths: readonly (readonly Step[])[];
  readonly #keys: ReadonlySet<string | number | undefined>;
  readonly #known = new Map<Places, Map<string | number | symbol, Next>>();
  /** Equal places are one. */
  readonly #places = new Map<string, Places>();
  readonly start: Places;

  constructor(paths: readonly (readonly Step[])[]) {
    this.#paths = paths;
    this.#keys = new Set(paths.flat().map(({ key }) => key));
    this.start = new Set(paths.map((_path, path) => placeOf(path, 0)));
  }

  /** Goes to a member or element. @returns where the paths are then, and the first path that ends here */
  next(places: Places, key: string | number): Next {
    const named = this.#keys.has(key) ? key : UNNAMED;
    const known = this.#known.get(places)?.get(named);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_KNOWN) {
      this.#known.clear();
      this.#places.clear();
    }
    const found = this.#next(places, key);
    const name = [...found.places].join();
    const same = this.#places.get(name) ?? found.places;
    this.#places.set(name, same);
    const next = { places: same, ends: found.ends };
    const ofPlaces = this.#known.get(places) ?? new Map<string | number | symbol, Next>();
    this.#known.set(places, ofPlaces.set(named, next));
    return next;
  }

  #next(places: Places, key: string | number): Next {
    const after = new Set<number>();
    let ends: number | null = null;
    for (const place of places) {
      const path = Math.floor(place / (MAX_STEPS + 1));
      const at = place % (MAX_STEPS + 1);
      const steps = this.#paths[path] ?? [];
      const step = steps[at];
      if (step === undefined) continue;
      if (step.deep) after.add(place);
      if (step.key !== undefined && step.key !== key) continue;
      if (at + 1 < steps.length) after.add(placeOf(path, at + 1));
      else ends ??= path;
    }
    return { places: after, ends };
  }
}
