import { isDeepStrictEqual } from 'node:util';
import { send, type TestResponse } from '../http/harness.js';
import { agreeWithSpans, agreeWithTraces, differences, expectSame, ids, microsOf, parse, same } from './comparison.js';
import { Model, type Expected, type Moment, type Write } from './model.js';
import type { Listed, Post, SentSpan, Step } from './sent.js';
import { spanKey, spanRead, type Read } from './stored-span.js';

export interface Access {
  /** Base of the server; it may have moved after a restart. */
  readonly url: () => string;
  readonly projectId: string;
  readonly key: string;
  /** Sends again what was not acknowledged, as clients do. */
  readonly retrying?: boolean;
}

interface Acknowledged {
  readonly response: TestResponse;
  readonly at: Moment;
  /** It had to be sent more than once. */
  readonly retried: boolean;
}

const LIMITS: Readonly<Record<Listed, number>> = { spans: 10_000, traces: 500, sessions: 500 };
/** The clock of versions may run ahead of the wall by as many microseconds as rows were written. */
const CLOCK_LEAD = 10_000;
const GIVE_UP_MS = 30_000;

/** Plays a history against the server and the model, and compares their answers. */
export class Player {
  readonly #access: Access;
  readonly #model: Model;
  readonly #sent: Post[] = [];
  /** What `created_at` of a trace or session was when first seen: it never changes. */
  readonly #created = new Map<string, number>();
  /** Every state that a span was ever written in, acknowledged or not. */
  readonly #written = new Map<string, Read[]>();
  #latest = 0;

  constructor(access: Access) {
    this.#access = access;
    this.#model = new Model(access.projectId);
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      try {
        await this.#step(step);
      } catch (error) {
        throw new Error(`step ${index} (${step.do}): ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  /** Compares all three lists, and them with each other: thoroughly, or for one trace and one session. */
  async compareAll({ thoroughly }: { readonly thoroughly: boolean }): Promise<void> {
    const lists = {
      spans: await this.#list('spans'),
      traces: await this.#list('traces'),
      sessions: await this.#list('sessions'),
    };
    for (const list of ['spans', 'traces', 'sessions'] as const) this.#compare(list, lists[list]);
    const some = (rows: readonly Read[]) => (thoroughly ? rows : rows.slice(0, 1));
    for (const trace of some(lists.traces)) {
      const spans = await this.#list('spans', `&trace_id=${String(trace['id'])}`);
      expectSame(
        `GET /spans?trace_id= of ${String(trace['id'])}`,
        ids(spans),
        ids(lists.spans.filter((span) => span['trace_id'] === trace['id'])),
      );
      agreeWithSpans(trace, spans, this.#model.isStated(String(trace['id'])));
    }
    for (const session of some(lists.sessions))
      agreeWithTraces(session, await this.#list('traces', `&session_id=${String(session['id'])}`));
  }

  async #step(step: Step): Promise<void> {
    switch (step.do) {
      case 'post':
        return this.#post(step);
      case 'retry': {
        const again = this.#sent.at(-1 - step.nth) ?? this.#sent[0];
        if (again) await this.#post(again);
        return;
      }
      case 'together':
        return this.#together(step.posts);
      case 'delete':
        return this.#delete(step.what, step.id);
      case 'read':
        this.#compare(step.list, await this.#list(step.list));
    }
  }

  async #post(post: Post): Promise<void> {
    const acknowledged = await this.#send(post);
    const writes = this.#writes(post, acknowledged);
    for (const write of writes) this.#model.apply(write);
    const answers = parse(acknowledged.response.text);
    if (post.to === 'spans') {
      const times = answers.map((span) => microsOf(span['created_at']));
      if (times.some((time, index) => time <= (times[index - 1] ?? this.#latest)))
        throw new Error(`created_at does not grow: ${times.join(', ')} after ${this.#latest}`);
      this.#latest = times.at(-1) ?? this.#latest;
      return;
    }
    const expected = this.#model.recount()[post.to];
    // This answer is no text of the store's but a parsed object: its costs are JavaScript numbers.
    const rounded = (read: Read) => ({ ...read, cost: read['cost'] === null ? null : Number(read['cost']) });
    if (answers.length !== post.body.length) throw new Error(`POST answered ${answers.length} of ${post.body.length}`);
    post.body.forEach(({ id }, index) => {
      const found = expected.get(id.toLowerCase());
      this.#compareOne(
        `POST /${post.to}`,
        id.toLowerCase(),
        found && { ...found, variants: found.variants.map(rounded) },
        answers[index] && rounded(answers[index]),
      );
    });
  }

  /** Several clients write while others read; the times that spans were taken in tell their order. */
  async #together(posts: readonly Post[]): Promise<void> {
    const before = this.#model.recount();
    for (const post of posts) if (post.to === 'spans') this.#remember(post.body);
    let writing = true;
    const readers = this.#access.retrying ? [] : [this.#watch(before.spans.keys(), () => writing)];
    const writers = Promise.all(posts.map(async (post) => this.#writes(post, await this.#send(post))));
    const ended = writers.finally(() => (writing = false));
    const [sent] = await Promise.all([ended, ...readers]);
    const writes = sent.flat().sort((a, b) => timeOf(a) - timeOf(b));
    for (const write of writes) this.#model.apply(write);
    this.#latest = Math.max(this.#latest, ...writes.flatMap((write) => (write.kind === 'span' ? write.at.low : [])));
  }

  /** Whatever is being written, every span is listed once, in a state it was written in, and none is missing. */
  async #watch(existing: Iterable<string>, going: () => boolean): Promise<void> {
    const keys = [...existing];
    while (going()) {
      const spans = await this.#list('spans');
      const listed = spans.map((span) => spanKey(span as { trace_id: unknown; id: unknown }));
      if (new Set(listed).size !== listed.length) throw new Error('GET /spans lists a span twice during writes');
      const missing = keys.find((key) => !listed.includes(key));
      if (missing !== undefined) throw new Error(`GET /spans misses ${missing} during writes`);
      for (const span of spans) {
        const { created_at: _created, ...rest } = span;
        const states = this.#written.get(spanKey(span as { trace_id: unknown; id: unknown })) ?? [];
        if (!states.some((state) => isDeepStrictEqual(state, rest)))
          throw new Error(`GET /spans lists what was never written: ${JSON.stringify(span)}`);
      }
    }
  }

  async #delete(what: 'span' | 'trace' | 'session', id: string): Promise<void> {
    const there = this.#model.has(what, id);
    const { response, retried } = await this.#acknowledged('DELETE', `/${what}s/${id}`, undefined, [204, 404]);
    // An attempt without an answer may have been the one that deleted it.
    if (response.status !== (there ? 204 : 404) && !(retried && there))
      throw new Error(
        `DELETE /${what}s/${id} answered ${response.status}, although ${there ? 'it was' : 'nothing was'} there`,
      );
    this.#model.apply({ kind: 'delete', what, id });
  }

  async #send(post: Post): Promise<Acknowledged> {
    this.#sent.push(post);
    if (post.to === 'spans') this.#remember(post.body);
    const body =
      post.to === 'sessions'
        ? post.body.map((session) => ({ ...session, project_id: this.#access.projectId }))
        : post.body;
    return this.#acknowledged('POST', `/${post.to}`, body, [200]);
  }

  #remember(spans: readonly SentSpan[]): void {
    for (const span of spans) {
      const states = this.#written.get(spanKey(span)) ?? [];
      states.push(spanRead(span, this.#access.projectId));
      this.#written.set(spanKey(span), states);
    }
  }

  /** What an answered POST wrote; the answer to spans must be what was sent, with every default applied. */
  #writes(post: Post, { response, at, retried }: Acknowledged): Write[] {
    if (post.to === 'traces') return post.body.map((sent) => ({ kind: 'trace', at, sent }));
    if (post.to === 'sessions') return post.body.map((sent) => ({ kind: 'session', at, sent }));
    const answers = parse(response.text);
    if (answers.length !== post.body.length) throw new Error(`POST answered ${answers.length} of ${post.body.length}`);
    return post.body.map((sent, index) => {
      const { created_at, ...answer } = answers[index] ?? {};
      expectSame('POST /spans', answer, spanRead(sent, this.#access.projectId));
      const exact = microsOf(created_at);
      if (exact < at.low || exact > at.high) throw new Error(`created_at ${String(created_at)} is not now`);
      // An attempt without an answer may have been the first write.
      return { kind: 'span', at: { low: retried ? at.low : exact, high: exact }, sent };
    });
  }

  async #acknowledged(method: string, path: string, body: unknown, good: readonly number[]): Promise<Acknowledged> {
    const started = Date.now();
    for (let attempt = 0; ; attempt += 1) {
      const response = await send(this.#access.url() + path, method, { key: this.#access.key, body }).catch(
        (error: unknown) => {
          if (!this.#access.retrying) throw error;
          return null;
        },
      );
      if (response && good.includes(response.status)) {
        const at = { low: started * 1000, high: Date.now() * 1000 + CLOCK_LEAD };
        return { response, at, retried: attempt > 0 };
      }
      const again = this.#access.retrying && (response === null || [429, 503].includes(response.status));
      if (!again || Date.now() - started > GIVE_UP_MS)
        throw new Error(`${method} ${path} answered ${response ? `${response.status} ${response.text}` : 'nothing'}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #list(list: Listed, filter = ''): Promise<Read[]> {
    const { response } = await this.#acknowledged('GET', `/${list}?limit=${LIMITS[list]}${filter}`, undefined, [200]);
    return parse(response.text);
  }

  #compare(list: Listed, answers: readonly Read[]): void {
    const expected = this.#model.recount()[list];
    const key = (read: Read) =>
      list === 'spans' ? spanKey(read as { trace_id: unknown; id: unknown }) : String(read['id']);
    expectSame(`ids of GET /${list}`, answers.map(key).sort(), [...expected.keys()].sort());
    for (const answer of answers) this.#compareOne(`GET /${list}`, key(answer), expected.get(key(answer)), answer);
    const sorted = answers.map((answer) => String(answer[list === 'sessions' ? 'created_at' : 'started_at']));
    expectSame(`order of GET /${list}`, sorted, [...sorted].sort().reverse());
  }

  #compareOne(call: string, key: string, expected: Expected | undefined, answer: Read | undefined): void {
    if (!expected || !answer) throw new Error(`${call}: ${key} is ${expected ? 'missing' : 'too much'}`);
    const { created_at, ...rest } = answer;
    const fitting = expected.variants.find((variant) => same(variant, rest)) ?? expected.variants[0];
    if (!same(fitting, rest)) throw new Error(`${call}: ${key}: ${differences(fitting ?? {}, rest)}`);
    const created = microsOf(created_at);
    const { low, high } = expected.created;
    if (created < low || created > high)
      throw new Error(`${call}: ${key}: created_at ${String(created_at)} is ${created}, not within ${low} and ${high}`);
    if (call.endsWith('spans')) return;
    const seen = this.#created.get(`${call.split('/')[1]}/${key}`) ?? created;
    if (seen !== created) throw new Error(`${call}: ${key}: created_at was ${seen} and is now ${created}`);
    this.#created.set(`${call.split('/')[1]}/${key}`, created);
  }
}

function timeOf(write: Write): number {
  return write.kind === 'delete' ? 0 : write.at.high;
}
