import { DomainError } from '../../engine/errors.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { WholeReader, WholeShape } from '../../engine/traces/model/judged/whole-reader.js';
import type { JudgeSettings } from './judge.js';
import { shapeOf } from './whole-settings.js';

export interface JudgedFinderParts {
  readonly spans: Pick<SpanReader, 'find'>;
  readonly wholes: Pick<WholeReader, 'readWholes' | 'sessionsOf'>;
}

/** Notes traces that a trace or session shows, for the span that stands for it. */
export type NoteTraces = (spanId: string, traceIds: readonly string[]) => void;

/** A span that was evaluated, or stands for a trace or session, and the id of this. */
interface Sought {
  readonly span: JudgedSpan;
  readonly id: string;
}

/** How often wholes are read, as spans of further traces come while they are. */
const MAX_READS = 5;

/** Finds again what judges evaluated, by the span that was evaluated or stands for what was. */
export class JudgedFinder {
  readonly #parts: JudgedFinderParts;

  constructor(parts: JudgedFinderParts) {
    this.#parts = parts;
  }

  /**
   * Spans by id, as the judge is shown them now.
   * @param willShow is told the traces of wholes before any of what is given out was read: a span that a later deletion takes
   *   is of a trace that is noted, and one that an earlier deletion took is not read
   * @throws DomainError `unavailable`; errors of `willShow`
   */
  async find(
    projectId: string,
    judge: JudgeSettings,
    ids: readonly string[],
    willShow: NoteTraces,
  ): Promise<Map<string, JudgedSpan>> {
    const { spans, wholes } = this.#parts;
    const found = await spans.find(projectId, ids);
    const shape = shapeOf(judge);
    if (shape === null || found.size === 0) return found;
    const traces = [...new Set([...found.values()].map(({ trace_id }) => trace_id))];
    const sessions = shape.kind === 'trace' ? null : await wholes.sessionsOf(projectId, traces);
    const sought = [...found.values()].flatMap((span): Sought[] => {
      const id = sessions === null ? span.trace_id : sessions.get(span.trace_id);
      return id === undefined ? [] : [{ span, id }];
    });
    const read = await this.#read(projectId, sought, shape, willShow);
    const shown = sought.flatMap(({ span, id }): [string, JudgedSpan][] => {
      const whole = read.get(id)?.whole;
      return whole == null ? [] : [[span.id, { ...span, whole }]];
    });
    return new Map(shown);
  }

  /** Which traces a session shows is known once it is read: it is read again after these were noted. */
  async #read(
    projectId: string,
    sought: readonly Sought[],
    shape: WholeShape,
    willShow: NoteTraces,
  ): Promise<Map<string, JudgedSpan>> {
    const ids = [...new Set(sought.map(({ id }) => id))];
    const noted = new Map(sought.map(({ span }) => [span.id, new Set<string>()]));
    const note = (traceIdsOf: (one: Sought) => readonly string[]) => {
      const isNew = sought.map((one) => {
        const known = noted.get(one.span.id) ?? new Set();
        const fresh = traceIdsOf(one).filter((id) => !known.has(id));
        if (fresh.length > 0) willShow(one.span.id, fresh);
        for (const id of fresh) known.add(id);
        return fresh.length > 0;
      });
      return isNew.includes(true);
    };
    note(({ span }) => [span.trace_id]);
    for (let times = 0; times < MAX_READS; times += 1) {
      const read = await this.#parts.wholes.readWholes(projectId, ids, shape);
      if (!note(({ id }) => read.get(id)?.whole?.trace_ids ?? [])) return read;
    }
    throw new DomainError('unavailable', 'Sessions change all the time');
  }
}
