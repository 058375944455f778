import { setImmediate as nextTurn } from 'node:timers/promises';
import { spanFields, type SpanRead } from './model/list/fields.js';
import type { PlacedSpan, SpanRevision, StoredSpan } from './model/prices/calculated-spans.js';
import type { Micros } from '../timestamp.js';
import { toSpan } from './calculated-span-rows.js';
import { sql, value } from './clickhouse/client/sql.js';
import type { CommitLog } from './write/commit-log.js';
import type { Version } from './write/version-clock.js';
import type { WriteWatch } from './write/write-watch.js';
import { spanColumns } from './list/columns.js';
import { jsonLines } from './read/json-rows.js';
import type { HeldState, ReadsInProgress } from './read/reads-in-progress.js';
import type { Reader, ReadOptions } from './read/row-reader.js';
import { inProject, type ReadScope } from './read/scope.js';
import { moment } from './read/times.js';
import { receivedVersion, written } from './read/visibility.js';

/** Where stored spans are read and replaced. */
export interface RevisedStore {
  readonly reader: Reader;
  readonly log: CommitLog;
  readonly reads: ReadsInProgress;
}

/** A state of a project, and a watch over what is written to it since. */
export interface Opened {
  readonly projectId: string;
  readonly state: HeldState;
  readonly watch: WriteWatch;
}

/** Opens a state that has everything that was acknowledged before. */
export async function openState({ log, reads }: RevisedStore, projectId: string): Promise<Opened> {
  const watch = await log.watch(projectId);
  try {
    return { projectId, state: await reads.open(projectId), watch };
  } catch (error) {
    watch.end();
    throw error;
  }
}

/** When the client of a version wrote it, and when it was received as it is. */
interface Origin {
  readonly written: Version;
  readonly received: Version;
}

/** Reads whole spans of one state and stores them again, where no client was faster. */
export class StoredRevision implements SpanRevision {
  protected readonly scope: ReadScope;
  protected readonly store: RevisedStore;
  readonly #opened: Opened;
  readonly #keepsReceived: boolean;
  /** By the version of each span that was read. */
  readonly #origins = new Map<Version, Origin>();

  /** @param keepsReceived whether what is replaced stays received when it was */
  constructor(store: RevisedStore, opened: Opened, keepsReceived: boolean) {
    this.scope = { projectId: opened.projectId, upTo: opened.state.upTo };
    this.store = store;
    this.#opened = opened;
    this.#keepsReceived = keepsReceived;
  }

  async read(spans: readonly PlacedSpan[]): Promise<StoredSpan[]> {
    const found = await wholeSpans(this.store.reader, this.scope.projectId, spans);
    return found.map(({ version, origin, span }) => {
      this.#origins.set(version, origin);
      return { version, span };
    });
  }

  async replace(spans: readonly StoredSpan[], asSent = false): Promise<(Micros | null)[]> {
    const { watch, projectId } = this.#opened;
    // Nothing may come between this look at the watch and the append: both are in one turn of the event loop.
    const still = spans.map(({ span }) => !watch.sawChanged(span));
    const revised = spans
      .filter((_span, index) => still[index])
      .map(({ version, span }) => {
        if (asSent) return span;
        const origin = this.#origins.get(version);
        return {
          ...span,
          originVersion: origin?.written ?? version,
          receivedVersion: this.#keepsReceived ? (origin?.received ?? version) : 0,
        };
      });
    const { createdAt } = await this.store.log.append({ projectId, spans: revised });
    const times = createdAt.values();
    return still.map((stays) => (stays ? (times.next().value ?? null) : null));
  }

  close(): void {
    this.#opened.watch.end();
    this.#opened.state.release();
  }
}

/** A whole span as it is stored. */
interface WholeSpan extends StoredSpan {
  readonly origin: Origin;
  /** Its bytes as JSON. */
  readonly size: number;
}

/** Longest time that spans are parsed before other requests get a turn. */
const MAX_TURN_MS = 10;

/** Reads whole spans by their versions and starts, where they are still stored. */
export async function wholeSpans(
  reader: Reader,
  projectId: string,
  spans: readonly Pick<PlacedSpan, 'version' | 'started_at' | 'trace_id'>[],
  options: ReadOptions = {},
): Promise<WholeSpan[]> {
  if (spans.length === 0) return [];
  const times = spans.map(({ started_at }) => started_at);
  const versions = spans.map(({ version }) => version);
  const extra = [sql`ver`, written, receivedVersion, sql`cost_calculated`];
  const { selected, format } = jsonLines(spanFields, Object.keys(spanFields), spanColumns, extra);
  const lines = await reader.lines(
    sql`SELECT ${selected}
FROM spans
WHERE ${inProject(projectId)} AND ver IN ${value(versions, 'Array(UInt64)')}
  AND started_at >= ${moment(Math.min(...times))} AND started_at <= ${moment(Math.max(...times))}
  AND trace_id IN ${value([...new Set(spans.map((span) => span.trace_id))], 'Array(UUID)')}
${format}`,
    options,
  );
  const whole: WholeSpan[] = [];
  let began = performance.now();
  for (const { row, extra: columns } of lines) {
    if (performance.now() - began > MAX_TURN_MS) {
      await nextTurn();
      began = performance.now();
    }
    const [version, origin, received, calculated] = columns;
    whole.push({
      version: Number(version),
      origin: { written: Number(origin), received: Number(received) },
      size: row.length,
      span: { ...toSpan(JSON.parse(row) as SpanRead), cost_calculated: calculated === '1' },
    });
  }
  return whole;
}
