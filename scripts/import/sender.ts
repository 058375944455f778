import { RefusedError, type Remote } from '../transfer/remote.js';
import { tallyOf } from './spans.js';
import type { NotTaken, Refusal, SentRequest, SentSpan } from './step.js';

const [BAD_REQUEST, TOO_LARGE, INVALID] = [400, 413, 422];

/** A refusal, with where the refused part was in its request; null: all of it. */
export interface PlacedRefusal extends Refusal {
  readonly index: number | null;
}

/** Sends what a source gives; what the server refuses for what it is does not keep back the rest. */
export class Sender {
  readonly #remote: Remote;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  /** @returns what was refused @throws TransferError when the server does not answer, or refuses the caller */
  async spans(spans: readonly SentSpan[], places: readonly number[] = [...spans.keys()]): Promise<PlacedRefusal[]> {
    if (spans.length === 0) return [];
    try {
      await this.#remote.post('/spans', JSON.stringify(spans), { prefer: 'return=minimal' });
      return [];
    } catch (error) {
      const status = statusOf(error);
      if (!(error instanceof RefusedError) || status === null) throw error;
      const named = status === INVALID ? namedIn(error) : new Map<number, string>();
      if (named.size > 0) {
        const kept = [...spans.keys()].filter((index) => !named.has(index));
        const rest = await this.spans(
          kept.map((index) => spans[index] as SentSpan),
          kept.map((index) => places[index] as number),
        );
        const refused = [...named].map(([index, why]) => refusalOf(spans[index] as SentSpan, places[index] ?? 0, why));
        return [...refused, ...rest];
      }
      if (spans.length === 1) return [refusalOf(spans[0] as SentSpan, places[0] ?? 0, detailOf(error))];
      const half = Math.ceil(spans.length / 2);
      return [
        ...(await this.spans(spans.slice(0, half), places.slice(0, half))),
        ...(await this.spans(spans.slice(half), places.slice(half))),
      ];
    }
  }

  /** @returns and @throws as above */
  async request(request: SentRequest): Promise<PlacedRefusal[]> {
    const { path, body, contentType, name, tally, refusals } = request;
    try {
      const isJson = contentType === undefined || contentType === 'application/json';
      const answer: unknown =
        isJson || typeof body === 'string'
          ? await this.#remote.post<unknown>(path, body)
          : await this.#remote.postBytes(path, body, contentType);
      return (refusals?.(answer) ?? []).map((refusal) => ({ ...refusal, index: null }));
    } catch (error) {
      const status = statusOf(error);
      if (!(error instanceof RefusedError) || status === null) throw error;
      const smaller = status === TOO_LARGE ? (request.split?.() ?? []) : [];
      if (smaller.length === 0) return [{ what: name, why: detailOf(error), tally, index: null }];
      const refused: PlacedRefusal[] = [];
      for (const each of smaller) refused.push(...(await this.request(each)));
      return refused;
    }
  }
}

/** The status of a refusal that is about what was sent; null: it is about something else. */
function statusOf(error: unknown): number | null {
  if (!(error instanceof RefusedError)) return null;
  const status = error.status;
  return [BAD_REQUEST, TOO_LARGE, INVALID, 404, 409].includes(status) ? status : null;
}

/** The places that a refusal names, each with the rule that it breaks. */
function namedIn({ problem }: RefusedError): Map<number, string> {
  const named = new Map<number, string>();
  for (const { pointer, detail } of problem.errors ?? []) {
    const [, index, field = ''] = /^\/(\d+)(.*)$/.exec(pointer) ?? [];
    if (index !== undefined && !named.has(Number(index))) named.set(Number(index), `${field.slice(1)} ${detail}`.trim());
  }
  return named;
}

function detailOf({ problem, message }: RefusedError): string {
  const [issue] = problem.errors ?? [];
  return issue === undefined ? (problem.detail ?? message) : `${issue.pointer} ${issue.detail}`;
}

function refusalOf(span: SentSpan, index: number, why: string): PlacedRefusal {
  return { what: `span ${span.id} of trace ${span.trace_id}`, why, tally: tallyOf(span), index };
}

/** What was not taken, by reason: the first few of each by name. */
export class Leftovers {
  readonly #byReason = new Map<string, { count: number; readonly examples: string[] }>();
  #others = 0;

  add({ what, why, count = 1 }: NotTaken): void {
    let found = this.#byReason.get(why);
    if (found === undefined) {
      if (this.#byReason.size === MAX_REASONS) {
        this.#others += count;
        return;
      }
      this.#byReason.set(why, (found = { count: 0, examples: [] }));
    }
    found.count += count;
    if (found.examples.length < MAX_EXAMPLES) found.examples.push(what);
  }

  get reasons(): { readonly why: string; readonly count: number; readonly examples: readonly string[] }[] {
    const named = [...this.#byReason].map(([why, { count, examples }]) => ({ why, count, examples }));
    return this.#others === 0 ? named : [...named, { why: 'other reasons', count: this.#others, examples: [] }];
  }
}

const MAX_REASONS = 100;
const MAX_EXAMPLES = 5;
