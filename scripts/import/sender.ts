import { RefusedError, type Remote } from '../transfer/remote.js';
import { tallyOf } from './spans.js';
import type { NotTaken, Refusal, SentItem, SentItems, SentRequest, SentSpan } from './step.js';

const TOO_LARGE = 413;
/** Refusals that are about what was sent: not those of the caller. */
const ABOUT_CONTENT = [400, 404, 409, TOO_LARGE, 422];

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
  spans(spans: readonly SentSpan[]): Promise<PlacedRefusal[]> {
    const items = spans.map((span) => ({
      value: span,
      name: `span ${span.id} of trace ${span.trace_id}`,
      tally: tallyOf(span),
    }));
    return this.#items('/spans', items, [...items.keys()]);
  }

  /** @returns and @throws as above */
  items({ path, items }: SentItems): Promise<PlacedRefusal[]> {
    return this.#items(path, items, [...items.keys()]);
  }

  /** Sends a list without what the server names as wrong in it; where it names nothing, in halves. */
  async #items(path: string, items: readonly SentItem[], places: readonly number[]): Promise<PlacedRefusal[]> {
    if (items.length === 0) return [];
    const among = (indexes: readonly number[]) =>
      this.#items(
        path,
        indexes.map((index) => items[index] as SentItem),
        indexes.map((index) => places[index] as number),
      );
    try {
      const values = items.map(({ value }) => value);
      await this.#remote.post(path, JSON.stringify(values), { prefer: 'return=minimal' });
      return [];
    } catch (error) {
      if (!(error instanceof RefusedError) || statusOf(error) === null) throw error;
      const named = error.status === TOO_LARGE ? new Map<number, string>() : namedIn(error);
      const refusal = (index: number, why: string): PlacedRefusal => {
        const { name: what, tally } = items[index] as SentItem;
        return { what, why, tally, index: places[index] ?? null };
      };
      const indexes = [...items.keys()];
      if (named.size > 0) {
        const rest = await among(indexes.filter((index) => !named.has(index)));
        return [...[...named].map(([index, why]) => refusal(index, why)), ...rest];
      }
      if (items.length === 1) return [refusal(0, detailOf(error))];
      const half = Math.ceil(items.length / 2);
      return [...(await among(indexes.slice(0, half))), ...(await among(indexes.slice(half)))];
    }
  }

  /** @returns and @throws as above */
  async request(request: SentRequest): Promise<PlacedRefusal[]> {
    const { path, body, contentType, name, tally, refusals, accepts = [] } = request;
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
      if (accepts.includes(status)) return [];
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
  return error instanceof RefusedError && ABOUT_CONTENT.includes(error.status) ? error.status : null;
}

/** The places that a refusal names, each with the rule that it breaks. */
function namedIn({ problem }: RefusedError): Map<number, string> {
  const named = new Map<number, string>();
  for (const { pointer, detail } of problem.errors ?? []) {
    const [, index, field = ''] = /^\/(\d+)(.*)$/.exec(pointer) ?? [];
    if (index !== undefined && !named.has(Number(index)))
      named.set(Number(index), `${field.slice(1)} ${detail}`.trim());
  }
  return named;
}

function detailOf({ problem, message }: RefusedError): string {
  const [issue] = problem.errors ?? [];
  return issue === undefined ? (problem.detail ?? message) : `${issue.pointer} ${issue.detail}`;
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
