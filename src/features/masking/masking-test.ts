import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { spanList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { newestFirst } from '../../engine/traces/model/list/walk.js';
import type { ListQuery } from '../../engine/traces/model/list/query.js';
import { invalid } from '../../engine/validation/validation.js';
import { Masker, MASKED_FIELDS, type Maskable } from './masker.js';
import type { KeptRules, MaskingStore } from './rule.js';
import { ruleIssues, rulesOf } from './rule-issues.js';
import type { MaskingRuleInput, MaskingTestRead } from './schema.js';
import type { FoundValue, MaskingObserver } from './text-masker.js';

export interface MaskingTestParts {
  readonly lists: Pick<Lists, 'spans'>;
  readonly store: Pick<MaskingStore, 'find'>;
}

export interface MaskingTestRequest {
  /** Null: those of the project. */
  readonly rules: readonly MaskingRuleInput[] | null;
  /** Which spans. */
  readonly query: ListQuery;
  readonly limit: number;
}

/** Spans that are read together. */
const AT_ONCE = 20;
/** Bytes of spans behind which no more are read. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Excerpts of a rule. */
const SHOWN = 5;
/** Characters around a value, and of a value, in an excerpt. */
const AROUND = 40;
const MAX_VALUE = 200;

type StoredSpan = Maskable & { readonly id: string; readonly trace_id: string };
type Excerpt = MaskingTestRead['rules'][number]['excerpts'][number];

/** Tries masking rules on stored spans, which stay as they are. */
export class MaskingTest {
  readonly #parts: MaskingTestParts;

  constructor(parts: MaskingTestParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid`, and those of the lists; the signal's reason */
  async run(
    projectId: string,
    { rules, query, limit }: MaskingTestRequest,
    signal: AbortSignal,
  ): Promise<MaskingTestRead> {
    const tried = this.#tried(projectId, rules);
    const tally = new Tally(tried.rules.map(({ name }) => name));
    const masker = new Masker(tried, tally);
    let [bytes, looked, isLast] = [0, 0, false];
    while (looked < limit && bytes < MAX_BYTES && !isLast) {
      const atOnce = Math.min(AT_ONCE, limit - looked);
      const page = await this.#parts.lists.spans(
        projectId,
        {
          ...query,
          ...newestFirst(spanList),
          fields: ['id', 'trace_id', ...MASKED_FIELDS],
          limit: atOnce,
          offset: looked,
        },
        signal,
      );
      const json = Buffer.isBuffer(page.json) ? page.json : await buffer(page.json);
      const spans = JSON.parse(json.toString()) as StoredSpan[];
      for (const span of spans) {
        tally.begin(span);
        const [masked] = await masker.maskEach([span]);
        tally.end(masked !== span);
        signal.throwIfAborted();
      }
      await nextTurn();
      bytes += json.length;
      looked += spans.length;
      isLast = spans.length < atOnce;
    }
    return { ...tally.read(), complete: isLast || looked >= limit };
  }

  #tried(projectId: string, inputs: readonly MaskingRuleInput[] | null): Omit<KeptRules, 'updated_at'> {
    const kept = this.#parts.store.find(projectId);
    const key = kept?.key ?? randomBytes(32);
    const rules = inputs === null ? (kept?.rules ?? []) : rulesOf(inputs);
    const issues = inputs === null ? [] : ruleIssues(rules);
    if (issues.length > 0) throw invalid(issues);
    return { version: 0, rules, key };
  }
}

/** Counts what rules find. */
class Tally implements MaskingObserver {
  readonly #rules: {
    readonly name: string;
    spans: number;
    values: number;
    excerpts: Excerpt[];
    last: StoredSpan | null;
  }[];
  #span: StoredSpan | null = null;
  #field = '';
  #spans = 0;
  #changed = 0;

  constructor(names: readonly string[]) {
    this.#rules = names.map((name) => ({ name, spans: 0, values: 0, excerpts: [], last: null }));
  }

  begin(span: StoredSpan): void {
    this.#span = span;
    this.#spans += 1;
  }

  end(isChanged: boolean): void {
    if (isChanged) this.#changed += 1;
  }

  at(field: string): void {
    this.#field = field;
  }

  found({ rule, text, start, end, replacement }: FoundValue): void {
    const counts = this.#rules[rule];
    const span = this.#span;
    if (counts === undefined || span === null) return;
    counts.values += 1;
    if (counts.last !== span) counts.spans += 1;
    counts.last = span;
    if (counts.excerpts.length >= SHOWN) return;
    const [left, right] = [text.slice(Math.max(0, start - AROUND), start), text.slice(end, end + AROUND)];
    const value = end - start > MAX_VALUE ? `${text.slice(start, start + MAX_VALUE)}…` : text.slice(start, end);
    counts.excerpts.push({
      ...{ trace_id: span.trace_id, span_id: span.id, field: this.#field },
      before: `${left}${value}${right}`.toWellFormed(),
      after: `${left}${replacement}${right}`.toWellFormed(),
    });
  }

  read(): Omit<MaskingTestRead, 'complete'> {
    const rules = this.#rules.map(({ name, spans, values, excerpts }) => ({ name, spans, values, excerpts }));
    return { spans: this.#spans, changed: this.#changed, rules };
  }
}
