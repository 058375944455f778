import { unhurried } from '../harness/program.js';
import { send, type TestResponse } from '../harness/server.js';
import { agreeWithSpans, agreeWithTraces, differenceOf, expectSame, ids, microsOf, parse } from './comparison.js';
import { figuresProblem } from './experiment-figures.js';
import { EXPERIMENTS } from './histories.js';
import { Model, type Moment } from './model.js';
import { contradiction, type Reading, type Writing } from './moments.js';
import { meanProblem, scoreKey } from './scores.js';
import type { Listed, Post, Step } from './sent.js';
import { spanRead, type Read } from './stored-span.js';
import { iso, micros } from './units.js';
import {
  disagreement,
  experiments,
  ofExperiment,
  pathOf,
  spansOfSession,
  startedFrom,
  tagged,
  tracesByCost,
  where,
  whole,
  withScores,
  type View,
} from './views.js';

export interface Access {
  /** Base of the server; it may have moved after a restart. */
  readonly url: () => string;
  readonly projectId: string;
  readonly key: string;
  /** Ids of experiments of the project; absent: there are none, whatever spans say. */
  readonly experiments?: readonly [string, string];
  /** Sends again what was not acknowledged, as clients do; what was refused by 429 is always sent again. */
  readonly retrying?: boolean;
}

interface Acknowledged {
  readonly response: TestResponse;
  readonly at: Moment;
  /** An attempt before it may have been carried out. */
  readonly retried: boolean;
}

/** The clock of versions may run ahead of the wall by as many microseconds as rows were written. */
const CLOCK_LEAD = 10_000;
const GIVE_UP_MS = 30_000;

/** Plays a history against the server and the model, and compares their answers. */
export class Player {
  readonly #access: Access;
  readonly #model: Model;
  readonly #sent: Post[] = [];
  readonly #scoreIds = new Map<string, string>();
  /** What `created_at` of a trace or session was when first seen: it never changes. */
  readonly #created = new Map<string, unknown>();
  /** Everything that was deleted at least once. */
  readonly #deleted = new Set<string>();
  #latest = 0;

  readonly #byExperiments: readonly View[];

  constructor(access: Access) {
    this.#access = access;
    this.#byExperiments = byExperiments(access.experiments ?? EXPERIMENTS);
    this.#model = new Model(access.projectId);
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const [index, step] of this.#own(steps).entries()) {
      try {
        await this.#step(step);
      } catch (error) {
        throw new Error(`step ${index} (${step.do}): ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  /** Steps with the experiments of the project. */
  #own(steps: readonly Step[]): Step[] {
    const { experiments } = this.#access;
    if (experiments === undefined) return [...steps];
    const text = EXPERIMENTS.reduce(
      (all, id, index) => all.replaceAll(id, experiments[index] ?? id),
      JSON.stringify(steps),
    );
    return JSON.parse(text) as Step[];
  }

  /** Compares all three lists, and them with each other: thoroughly, or for one trace and one session. */
  async compareAll({ thoroughly }: { readonly thoroughly: boolean }): Promise<void> {
    const lists = {
      spans: await this.#list(whole('spans')),
      traces: await this.#list(whole('traces')),
      sessions: await this.#list(whole('sessions')),
    };
    for (const list of ['spans', 'traces', 'sessions'] as const) this.#compare(whole(list), lists[list]);
    const some = (rows: readonly Read[]) => (thoroughly ? rows : rows.slice(0, 1));
    for (const trace of some(lists.traces)) {
      const spans = await this.#list(where('spans', 'trace_id', String(trace['id'])));
      expectSame(
        `GET /spans?trace_id= of ${String(trace['id'])}`,
        ids(spans),
        ids(lists.spans.filter((span) => span['trace_id'] === trace['id'])),
      );
      agreeWithSpans(trace, spans, this.#model.isStated(String(trace['id'])));
    }
    for (const session of some(lists.sessions)) {
      const id = String(session['id']);
      agreeWithTraces(session, await this.#list(where('traces', 'session_id', id)));
      this.#compare(spansOfSession(id), await this.#list(spansOfSession(id)));
    }
    const started = lists.traces.flatMap(({ started_at }) => [
      startedFrom('traces', String(started_at)),
      startedFrom('sessions', String(started_at)),
    ]);
    const views = [...byTags, ...started];
    const tried = this.#byExperiments[this.#sent.length % this.#byExperiments.length];
    for (const view of thoroughly ? this.#byExperiments : tried ? [tried] : [])
      this.#compare(view, await this.#list(view));
    for (const id of this.#access.experiments ?? []) await this.#compareFigures(id, thoroughly);
    // Reads take most of the time of histories.
    const turn = this.#sent.length % views.length;
    for (const view of thoroughly ? views : views.slice(turn, turn + 1)) this.#compare(view, await this.#list(view));
    if (this.#scoreIds.size === 0) return;
    const next = this.#sent.length % byScores.length;
    for (const view of thoroughly ? byScores : byScores.slice(next, next + 1))
      this.#compare(view, await this.#list(view));
    if (thoroughly || next % 3 === 0) await this.#compareMean(LISTS[Math.floor(next / 3) % LISTS.length] ?? 'spans');
  }

  /** Figures of an experiment against those of its results. @param always whether also where there are none */
  async #compareFigures(id: string, always: boolean): Promise<void> {
    const expected = this.#model.figuresOf(id);
    if (expected['results'] === 0 && !always) return;
    const path = `/projects/${this.#access.projectId}/experiments/${id}`;
    const { response } = await this.#acknowledged('GET', path, undefined, [200]);
    const problem = figuresProblem(expected, (JSON.parse(response.text) as { figures: Read }).figures);
    if (problem !== null) throw new Error(`GET ${path}: ${problem}`);
  }

  /** Statistics of a score against the values that objects must have. */
  async #compareMean(list: Listed): Promise<void> {
    const path = `/${list}:stats?measures=scores.quality${list === 'sessions' ? '' : '&experiments=true'}`;
    const { response } = await this.#acknowledged('GET', path, undefined, [200]);
    const { totals } = JSON.parse(response.text) as { totals: Record<string, Read> };
    const scores = [...this.#model.recount()[list].values()].map((expected) => expected.scores['quality']);
    const problem = meanProblem(totals['scores.quality'] ?? {}, scores);
    if (problem !== null) throw new Error(`GET ${path}: ${problem}`);
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
      case 'unscore':
        return this.#unscore(step.nth);
      case 'read': {
        const view = this.#scoreIds.size === 0 ? whole(step.list) : withScores(step.list, null);
        this.#compare(view, await this.#list(view));
      }
    }
  }

  async #post(whole: Post): Promise<void> {
    const post = this.#known(whole);
    if (post.body.length === 0) return;
    const acknowledged = await this.#send(post);
    const writes = this.#writes(post, acknowledged);
    for (const write of writes) this.#model.apply(write);
    if (post.to === 'scores') return;
    const answers = parse(acknowledged.response.text);
    if (post.to === 'spans') {
      const times = answers.map((span) => microsOf(span['created_at']));
      if (times.some((time, index) => time <= (times[index - 1] ?? this.#latest)))
        throw new Error(`created_at does not grow: ${times.join(', ')} after ${this.#latest}`);
      this.#latest = times.at(-1) ?? this.#latest;
      return;
    }
    // Taken while the engine was away, it is answered as it was sent: what it has become is in what is read later.
    if (this.#access.retrying === true && answers.some((answer) => answer['created_at'] === undefined)) return;
    const expected = this.#model.recount()[post.to];
    // This answer is no text of the store's but a parsed object: its costs are JavaScript numbers.
    const rounded = (read: Read) => ({ ...read, cost: read['cost'] === null ? null : Number(read['cost']) });
    if (answers.length !== post.body.length) throw new Error(`POST answered ${answers.length} of ${post.body.length}`);
    post.body.forEach(({ id }, index) => {
      const found = expected.get(id.toLowerCase());
      const difference = differenceOf(
        found && { ...found, variants: found.variants.map(rounded) },
        answers[index] && rounded(answers[index]),
      );
      if (difference !== null) throw new Error(`POST /${post.to}: ${id.toLowerCase()}: ${difference}`);
    });
    this.#noteCreated(post.to, answers);
  }

  /** Without the scores of which nobody knows how long they stay. */
  #known(post: Post): Post {
    return post.to === 'scores' ? { ...post, body: post.body.filter((score) => this.#model.canScore(score)) } : post;
  }

  async #unscore(nth: number): Promise<void> {
    const score = this.#model.scoreAt(nth);
    if (score === undefined) return;
    const path = `/scores/${this.#scoreIds.get(scoreKey(score)) ?? ''}`;
    const { response, retried } = await this.#acknowledged('DELETE', path, undefined, [204, 404]);
    if (response.status !== 204 && !retried) throw new Error(`DELETE ${path} answered 404, although it was there`);
    this.#model.removeScore(score);
  }

  /** Several clients write while others read; the times that spans were taken in tell their order. */
  async #together(wholes: readonly Post[]): Promise<void> {
    const posts = wholes.map((each) => this.#known(each)).filter(({ body }) => body.length > 0);
    const writings: Writing[] = [];
    const readings: Reading[] = [];
    let events = 0;
    const write = async (post: Post) => {
      const sent = (events += 1);
      const acknowledged = await this.#send(post);
      writings.push({ sent, answered: (events += 1), writes: this.#writes(post, acknowledged) });
    };
    const read = async (view: View) => {
      const sent = (events += 1);
      const answers = await this.#list(view);
      readings.push({ sent, answered: (events += 1), view, answers });
    };
    let writing = true;
    const watch = async (view: View) => {
      while (writing) await read(view);
    };
    const step = this.#sent.length;
    const written = Promise.all(posts.map(write)).finally(() => (writing = false));
    const watched = this.#access.retrying ? [] : viewsDuring(posts, step, this.#byExperiments);
    await Promise.all([written, ...watched.map(watch)]);
    // One of them once more, another from step to step: reads take most of the time of histories.
    const again = watched[step % watched.length];
    if (again) await read(again);
    const problem = contradiction(this.#model, writings, readings);
    if (problem !== null) throw new Error(problem);
    for (const { view, answers } of readings) this.#noteCreated(view.list, answers);
    const writes = writings.flatMap((each) => each.writes).sort((a, b) => a.at.high - b.at.high);
    for (const each of writes) this.#model.apply(each);
    this.#latest = Math.max(this.#latest, ...writes.flatMap(({ kind, at }) => (kind === 'span' ? at.low : [])));
  }

  async #delete(what: 'span' | 'trace' | 'session', id: string): Promise<void> {
    const there = this.#model.has(what, id);
    const { response, retried } = await this.#acknowledged('DELETE', `/${what}s/${id}`, undefined, [204, 404]);
    // An attempt without an answer may have been the one that deleted it, and a deletion that the engine's death cut off ends as
    // the next one of the same thing.
    const target = `${what}/${id}`;
    const mayDiffer = there ? retried : this.#access.retrying === true && this.#deleted.has(target);
    this.#deleted.add(target);
    if (response.status !== (there ? 204 : 404) && !mayDiffer)
      throw new Error(
        `DELETE /${what}s/${id} answered ${response.status}, although ${there ? 'it was' : 'nothing was'} there`,
      );
    this.#model.apply({ kind: 'delete', what, id });
  }

  async #send(post: Post): Promise<Acknowledged> {
    this.#sent.push(post);
    const body =
      post.to === 'sessions'
        ? post.body.map((session) => ({ ...session, project_id: this.#access.projectId }))
        : post.body;
    return this.#acknowledged('POST', `/${post.to}`, body, [200]);
  }

  /** What an answered POST wrote; the answer to spans must be what was sent, with every default applied. */
  #writes(post: Post, { response, at, retried }: Acknowledged): Writing['writes'] {
    if (post.to === 'traces') return post.body.map((sent) => ({ kind: 'trace', at, sent }));
    if (post.to === 'sessions') return post.body.map((sent) => ({ kind: 'session', at, sent }));
    const answers = parse(response.text);
    if (answers.length !== post.body.length) throw new Error(`POST answered ${answers.length} of ${post.body.length}`);
    const taken = (answer: Read): Moment => {
      const exact = microsOf(answer['created_at']);
      if (exact < at.low || exact > at.high) throw new Error(`created_at ${String(answer['created_at'])} is not now`);
      // An attempt without an answer may have been the first write.
      return { low: retried ? at.low : exact, high: exact };
    };
    if (post.to === 'scores')
      return post.body.map((sent, index) => {
        const { id, value, ...answer } = answers[index] ?? {};
        expectSame('POST /scores', value, sent.value);
        this.#scoreIds.set(scoreKey(sent), String(id));
        return { kind: 'score', at: taken(answer), sent };
      });
    return post.body.map((sent, index) => {
      const { created_at, ...answer } = answers[index] ?? {};
      expectSame('POST /spans', answer, spanRead(sent, this.#access.projectId));
      return { kind: 'span', at: taken({ created_at }), sent };
    });
  }

  async #acknowledged(method: string, path: string, body: unknown, good: readonly number[]): Promise<Acknowledged> {
    const started = Date.now();
    let retried = false;
    for (;;) {
      const response = await send(this.#access.url() + path, method, { key: this.#access.key, body }).catch(
        (error: unknown) => {
          if (!this.#access.retrying) throw error;
          return null;
        },
      );
      if (response && good.includes(response.status)) {
        const at = { low: started * 1000, high: Date.now() * 1000 + CLOCK_LEAD };
        return { response, at, retried };
      }
      const refused = response?.status === 429;
      const again = refused || (this.#access.retrying && (response === null || response.status === 503));
      if (!again || Date.now() - started > unhurried(GIVE_UP_MS))
        throw new Error(`${method} ${path} answered ${response ? `${response.status} ${response.text}` : 'nothing'}`);
      // What was refused for want of room was not done.
      if (!refused) retried = true;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #list(view: View): Promise<Read[]> {
    const { response } = await this.#acknowledged('GET', pathOf(view), undefined, [200]);
    return parse(response.text);
  }

  #compare(view: View, answers: readonly Read[]): void {
    const problem = disagreement(view, answers, this.#model.recount());
    if (problem !== null) throw new Error(`GET ${pathOf(view)}: ${problem}`);
    this.#noteCreated(view.list, answers);
  }

  #noteCreated(list: Listed, answers: readonly Read[]): void {
    if (list === 'spans') return;
    for (const { id, created_at } of answers) {
      const key = `${list}/${String(id)}`;
      const seen = this.#created.get(key) ?? created_at;
      if (seen !== created_at)
        throw new Error(`${key}: created_at was ${String(seen)} and is now ${String(created_at)}`);
      this.#created.set(key, created_at);
    }
  }
}

const LISTS = ['spans', 'traces', 'sessions'] as const;

/** Lists by tags that are on objects themselves, or in what they hold, or some here and some there. */
const byTags = LISTS.flatMap((list) => [tagged(list, { env: 'prod' }), tagged(list, { env: 'prod', user: 'test' })]);

/** Lists that show scores, choose by them and are sorted by them. */
const byScores = LISTS.flatMap((list) => [
  withScores(list, null),
  withScores(list, 'scores.quality'),
  withScores(list, 'scores.ok', { quality: [0, 0.5] }),
  withScores(list, null, { tone: ['calm'] }),
]);

/** Lists without experiments, of them alone and of one; the last of those take another way to the page. */
const byExperiments = (ids: readonly string[]) =>
  (['spans', 'traces'] as const).flatMap((list) => [
    experiments(list, 'false'),
    experiments(list, 'only'),
    ...ids.map((id) => ofExperiment(list, id)),
    experiments(list, 'false', startedFrom(list, '2026-01-01T00:00:00.000000Z')),
    experiments(list, 'only', tagged(list, { env: 'prod' })),
  ]);

/** What is read while these are written: every list, and one that chooses or sorts, another one from step to step. */
function viewsDuring(posts: readonly Post[], step: number, tried: readonly View[]): View[] {
  const [trace] = posts.flatMap((post) => (post.to === 'spans' ? post.body.map((span) => span.trace_id) : []));
  const ofTrace = trace === undefined ? [] : [where('spans', 'trace_id', trace)];
  const [span] = posts.flatMap((post) => (post.to === 'spans' ? post.body : []));
  const ofSession = span?.session_id == null ? [] : [spansOfSession(span.session_id.toLowerCase())];
  const started = span === undefined ? [] : [startedFrom('traces', iso(micros(span.started_at)))];
  const others = [
    ...[tracesByCost, where('traces', 'has_error', true), ...ofTrace, ...ofSession, ...started, ...byTags],
    ...LISTS.map((list) => withScores(list, 'scores.quality')),
    ...tried,
  ];
  return [whole('spans'), whole('traces'), whole('sessions'), ...others.slice(step % others.length).slice(0, 1)];
}
