import type { Version } from '../write/version-clock.js';
import type { FillingOf } from './newest-score-statements.js';
import type { ListSource } from './sources.js';

/** Fillings of a project, and of all projects: those that were asked for last. */
const MAX_FILLINGS = { ofProject: 40, ofAll: 400 } as const;
/** Names that a project is known to have asked for. */
const MAX_ASKED = 1_000;
/** After a filling that failed, none of its name begins for so long, twice as long after each more, and at most for a day. */
const AFTER_FAILURE_MS = 60_000;
const LONGEST_AFTER_FAILURE_MS = 86_400_000;
/** A filling that made room for others is not made again at once: where more names are in use than are kept, scores are read. */
const AFTER_EVICTION_MS = 600_000;

/** A filling of the table of newest scores, and what is known of it. */
export interface Filling extends FillingOf {
  readonly projectId: string;
  generation: number;
  /** The state that it is of. */
  upTo: Version;
  /** Reads that count on its rows as they are. */
  readers: number;
  /** How many objects were stored again. */
  again: number;
  /** How many objects were filled in. */
  objects: number;
  /** How often what changed was computed since it was stored. */
  computed: number;
}

type Named = Pick<Filling, 'projectId' | 'source' | 'name'>;

/** Which fillings there are, and which may be made. */
export class Fillings {
  readonly #remove: (filling: number) => void;
  /** By project, those asked for last at the end. */
  readonly #kept = new Map<string, Map<string, Filling>>();
  /** Names that were asked for, by project, and from when on they may be filled in. */
  readonly #asked = new Map<string, Map<string, number>>();
  /** How often in a row a name could not be filled in, by project and name. */
  readonly #failures = new Map<string, number>();

  /** @param remove takes the rows of one that nobody reads any more */
  constructor(remove: (filling: number) => void) {
    this.#remove = remove;
  }

  /** One that there is, which is then the one asked for last. */
  find({ projectId, source, name }: Named): Filling | undefined {
    const ofProject = this.#kept.get(projectId);
    const found = ofProject?.get(keyOf(source, name));
    if (found === undefined) return undefined;
    ofProject?.delete(keyOf(source, name));
    ofProject?.set(keyOf(source, name), found);
    return found;
  }

  has(filling: Filling): boolean {
    return this.#kept.get(filling.projectId)?.get(keyOf(filling.source, filling.name)) === filling;
  }

  /** Makes room for it where there are too many: first of its own project, then of the one that has most. */
  keep(filling: Filling): void {
    const ofProject = this.#kept.get(filling.projectId) ?? new Map<string, Filling>();
    this.#kept.set(filling.projectId, ofProject.set(keyOf(filling.source, filling.name), filling));
    if (ofProject.size > MAX_FILLINGS.ofProject) this.#evictFrom(ofProject);
    const all = [...this.#kept.values()];
    const most = all.reduce((one, other) => (other.size > one.size ? other : one));
    if (all.reduce((sum, { size }) => sum + size, 0) > MAX_FILLINGS.ofAll) this.#evictFrom(most);
  }

  #evictFrom(fillings: ReadonlyMap<string, Filling>): void {
    const oldest = [...fillings.values()].find(({ readers }) => readers === 0);
    if (oldest === undefined) return;
    this.#pause(oldest, AFTER_EVICTION_MS);
    this.drop(oldest);
  }

  /** It counts no more; its rows go once nobody reads them. */
  drop(filling: Filling): void {
    const ofProject = this.#kept.get(filling.projectId);
    if (this.has(filling)) ofProject?.delete(keyOf(filling.source, filling.name));
    if (ofProject?.size === 0) this.#kept.delete(filling.projectId);
    if (filling.readers === 0) this.#remove(filling.filling);
  }

  dropAll(): void {
    for (const filling of [...this.#kept.values()].flatMap((each) => [...each.values()])) this.drop(filling);
  }

  /** None of them counts any more; their rows are removed otherwise. */
  clear(projectId?: string): void {
    if (projectId === undefined) this.#kept.clear();
    else {
      this.#kept.delete(projectId);
      this.#asked.delete(projectId);
    }
  }

  /** Whether a name is asked for again, and has not just failed. */
  isWanted({ projectId, source, name }: Named): boolean {
    const asked = this.#asked.get(projectId) ?? new Map<string, number>();
    this.#asked.set(projectId, asked);
    const from = asked.get(keyOf(source, name));
    if (from !== undefined) return performance.now() >= from;
    // Names are made up by clients.
    if (asked.size >= MAX_ASKED) asked.clear();
    asked.set(keyOf(source, name), -Infinity);
    return false;
  }

  stored({ projectId, source, name }: Named): void {
    this.#failures.delete(`${projectId} ${keyOf(source, name)}`);
  }

  failed(filling: Filling): void {
    const failing = `${filling.projectId} ${keyOf(filling.source, filling.name)}`;
    const failures = this.#failures.get(failing) ?? 0;
    if (this.#failures.size >= MAX_ASKED) this.#failures.clear();
    this.#failures.set(failing, failures + 1);
    this.#pause(filling, Math.min(LONGEST_AFTER_FAILURE_MS, AFTER_FAILURE_MS * 2 ** failures));
    this.drop(filling);
  }

  #pause({ projectId, source, name }: Named, ms: number): void {
    this.#asked.get(projectId)?.set(keyOf(source, name), performance.now() + ms);
  }
}

const keyOf = ({ list }: ListSource, name: string) => `${list.name} ${name}`;
