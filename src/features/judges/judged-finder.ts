import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { WholeReader } from '../../engine/traces/model/judged/whole-reader.js';
import type { JudgeSettings } from './judge.js';
import { shapeOf } from './whole-settings.js';

export interface JudgedFinderParts {
  readonly spans: Pick<SpanReader, 'find'>;
  readonly wholes: Pick<WholeReader, 'readWholes' | 'sessionsOf'>;
}

/** Finds again what judges evaluated, by the span that was evaluated or stands for what was. */
export class JudgedFinder {
  readonly #parts: JudgedFinderParts;

  constructor(parts: JudgedFinderParts) {
    this.#parts = parts;
  }

  /** Spans by id, as the judge is shown them now. @throws DomainError `unavailable` */
  async find(projectId: string, judge: JudgeSettings, ids: readonly string[]): Promise<Map<string, JudgedSpan>> {
    const { spans, wholes } = this.#parts;
    const found = await spans.find(projectId, ids);
    const shape = shapeOf(judge);
    if (shape === null || found.size === 0) return found;
    const traces = [...new Set([...found.values()].map(({ trace_id }) => trace_id))];
    const sessions = shape.kind === 'trace' ? null : await wholes.sessionsOf(projectId, traces);
    const wholeOf = ({ trace_id }: JudgedSpan) => (sessions === null ? trace_id : sessions.get(trace_id));
    const wanted = [...found.values()].flatMap((span) => wholeOf(span) ?? []);
    const read = await wholes.readWholes(projectId, [...new Set(wanted)], shape);
    const shown = [...found].flatMap(([id, span]): [string, JudgedSpan][] => {
      const whole = read.get(wholeOf(span) ?? '')?.whole;
      return whole == null ? [] : [[id, { ...span, whole }]];
    });
    return new Map(shown);
  }
}
