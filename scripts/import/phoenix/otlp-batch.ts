import type { Members } from '../members.js';
import { refusals } from '../otlp/refusals.js';
import type { SentRequest, Step } from '../step.js';
import { NOTHING, plus, type Tally } from '../tally.js';
import { otlpSpanOf, type OtlpSpan } from './otlp-span.js';

const MAX_SPANS = 500;
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Spans of a project of Phoenix that are sent together. */
export class OtlpBatch {
  readonly #project: string | null;
  readonly #sinceMs: number | null;
  #spans: OtlpSpan[] = [];
  #characters = 0;

  constructor(project: string | null, sinceMs: number | null) {
    this.#project = project;
    this.#sinceMs = sinceMs;
  }

  *row(span: Members, name: string): Iterable<Step> {
    const read = otlpSpanOf(span);
    if (read === null) {
      yield { type: 'left', left: { what: name, why: 'it has no ids of OpenTelemetry, or no start' } };
      return;
    }
    if (this.#sinceMs !== null && read.startedAt < this.#sinceMs) return;
    if (this.#spans.length === MAX_SPANS || this.#characters + read.json.length > MAX_CHARACTERS) yield* this.steps();
    this.#spans.push(read);
    this.#characters += read.json.length;
  }

  *steps(): Iterable<Step> {
    const spans = this.#spans;
    if (spans.length === 0) return;
    [this.#spans, this.#characters] = [[], 0];
    yield { type: 'request', request: this.#request(spans) };
  }

  #request(spans: readonly OtlpSpan[]): SentRequest {
    const resource = this.#project === null ? {} : { attributes: [projectAttribute(this.#project)] };
    const half = Math.ceil(spans.length / 2);
    return {
      path: '/v1/traces',
      body: `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":[{"spans":[${spans.map(({ json }) => json).join(',')}]}]}]}`,
      tally: spans.reduce((sum: Tally, span) => plus(sum, tallyOf(span)), NOTHING),
      name: `spans ${spans[0]?.spanId ?? ''} to ${spans.at(-1)?.spanId ?? ''}`,
      refusals: (answer) => refusals(answer, `spans from ${spans[0]?.spanId ?? ''}`),
      split: () => (spans.length === 1 ? [] : [this.#request(spans.slice(0, half)), this.#request(spans.slice(half))]),
    };
  }
}

const projectAttribute = (project: string) => ({
  key: 'openinference.project.name',
  value: { stringValue: project },
});

/** What calls cost, the server says: Phoenix does not. */
function tallyOf({ isRoot, isCall }: OtlpSpan): Partial<Tally> {
  return { spans: 1, traces: isRoot ? 1 : 0, unpriced: isCall ? 1 : 0 };
}
