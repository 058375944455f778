import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { PARTS } from '../../src/features/transfer/parts.js';
import type { Operation, Schema } from '../harness/api-document.js';
import { each } from '../harness/checked-api.js';
import { makeProject } from '../harness/projects.js';
import { seedOf } from '../harness/seed.js';
import type { TestResponse } from '../harness/server.js';
import { MalformedCalls, type MalformedCall } from './malformed-calls.js';
import { checkTaken } from './malformed-effects.js';
import { seeded, type Random } from './malformed-requests.js';
import { MalformedScene } from './malformed-scene.js';

const SEED = seedOf('MALFORMED_SEED');
/** What every client sends is tried more often. */
const OFTEN = Number(process.env['MALFORMED_COUNT'] ?? 30);
const LISTS = /^\/(spans|traces|sessions)$/;
const countOf = ({ path }: Operation, share: number) => Math.ceil(LISTS.test(path) ? OFTEN : OFTEN * share);
/** What a server that shares two cores with other tests may take for a request it refuses, and for one that it takes. */
const SLOW_MS = { refused: 2000, taken: 10_000 };
const AT_ONCE = 16;
const REFUSALS = [400, 401, 403, 404, 405, 409, 413, 415, 422, 431];
/** Of these the document says nothing for each path: what is no path of it, or no text at all. */
const OF_NO_ROUTE = [400, 404, 405, 431];
/**
 * Their bodies are no JSON of ours (see test/otlp/faults-hostile.test.ts, test/langfuse/media.test.ts), or hang on the path
 * (test/transfer/hostile.test.ts), or their answers have no end (test/lists/http-tail.test.ts), or they are read one by one
 * (test/langfuse/http.test.ts, test/langsmith/http.test.ts, test/phoenix/http.test.ts).
 */
const OTHER_FORMATS = new Set([
  ...['postOtlpTraces', 'postLangfuseOtlpTraces', 'postLangfuseEvents', 'importRecords', 'tailSpans', 'tailTraces'],
  ...['postLangsmithOtlpTraces', 'postLangsmithRuns', 'postLangsmithRun', 'patchLangsmithRun', 'postLangsmithRunParts'],
  ...['createLangsmithExamples', 'updateLangsmithExamples', 'postPhoenixOtlpTraces', 'uploadPhoenixDataset'],
  'uploadAttachment',
  // All that it takes is a secret, which no odd body has by chance (test/identity/people.test.ts).
  'joinProject',
]);
/** What they take out, the audit log has. */
const EXPORTS = /:export$|\/export\//;
/** They answer people with a page, also when they refuse, unless JSON is asked for. */
const PAGES = new Set(['getSharedTrace', 'getReviewPage']);
/** They say what the server is made of. */
const ABOUT_ITSELF = new Set(['getDocs', 'getMetrics', 'getOpenApi']);
/** The scene has nothing for them to do, however sound the request is. */
const NEVER_TAKEN: Readonly<Record<string, number>> = {
  // There is no trace or session with the id that others take.
  getTraceText: 404,
  getSessionText: 404,
  evaluateCalibration: 409,
  promoteCandidate: 409,
  signIn: 401,
  previewSignIn: 401,
  // The scene has no person with the id that others take.
  updateMember: 404,
  getSpan: 404,
  // The scene names no key: one that is rotated expires.
  rotateApiKey: 404,
  // What is deleted here never exists.
  deleteLangfusePrompt: 404,
  // Its variant has to be one of the variants.
  postAbChoice: 422,
  // A query or the spans themselves, but not both.
  addDatasetRowsFromSpans: 422,
  explainCost: 404,
  // The dataset has no column for the variable of the prompt.
  runExperiment: 422,
  // The server has no bucket for them.
  createScheduledExport: 409,
  updateScheduledExport: 404,
  // They need two finished experiments.
  createComparison: 422,
  listComparedRows: 404,
  // There is no media in the scene, and no media type is that of an image.
  announceLangfuseMedia: 422,
  reportLangfuseMedia: 404,
  getLangfuseMedia: 404,
  // The scene has no score, and it names a dataset or examples.
  updateLangsmithFeedback: 404,
  listLangsmithExamples: 422,
  // It names spans.
  listPhoenixSpanAnnotations: 422,
};

/** So many times as many bodies are tried of a call that has taken none of them yet. */
const TRIED_UNTIL_TAKEN = 200;

const takenOf = (statuses: ReadonlyMap<number, number>) => [...statuses.keys()].filter((status) => status < 400);

interface Sent {
  readonly call: MalformedCall;
  readonly response: TestResponse;
}

describe(`malformed requests (MALFORMED_SEED=${SEED})`, function () {
  this.timeout(600_000);
  let scene: MalformedScene;

  before(async () => {
    scene = await MalformedScene.boot();
  });
  after(() => scene.dispose());

  function expectClear({ status, text, json, headers }: TestResponse, shown: string): void {
    if (status < 400) return;
    expect(REFUSALS, `${status} ${text.slice(0, 300)}, ${shown}`).to.include(status);
    expect(headers.get('content-type'), shown).to.equal('application/problem+json');
    expect(json, shown).to.include.keys('type', 'title', 'status', 'detail', 'request_id');
    expect(json.status, shown).to.equal(status);
    expect(json.request_id, shown).to.equal(headers.get('x-request-id'));
    if (status === 422) expect(json.errors, shown).to.have.length.within(1, 100);
  }

  function expectClearPage({ status, text, headers }: TestResponse, shown: string): void {
    expect(REFUSALS, `${status} ${text.slice(0, 300)}, ${shown}`).to.include(status);
    expect(headers.get('content-type'), shown).to.equal('text/html; charset=utf-8');
    expect(text, shown).to.match(/<h1>[^<]+<\/h1>/);
  }

  async function send(operation: Operation, call: MalformedCall): Promise<Sent> {
    const { url, body, headers, kind } = call;
    const shown = `${operation.method} ${url.slice(0, 300)}, ${kind}: ${String(body ?? '').slice(0, 300)}`;
    const started = performance.now();
    const response = await scene.api.server.request(operation.method, url, {
      headers: { accept: 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    if (response.status < 400 && operation.method !== 'GET') scene.used();
    const limit = unhurried(response.status < 400 ? SLOW_MS.taken : SLOW_MS.refused);
    expect(performance.now() - started, `ms, ${response.status}, ${shown}`).to.be.lessThan(limit);
    const isPage = PAGES.has(operation.id) && !/json/.test(headers?.['accept'] ?? 'application/json');
    const isRefusedPage = isPage && response.status >= 400;
    if (isRefusedPage) expectClearPage(response, shown);
    else expectClear(response, shown);
    if (!isRefusedPage && !OF_NO_ROUTE.includes(response.status)) scene.document.checkAnswer(operation, response);
    if (response.status >= 400) expect(response.text.length, shown).to.be.lessThan(50_000);
    if (!ABOUT_ITSELF.has(operation.id))
      expect(response.text, shown).to.not.match(/node_modules|SQLITE|ClickHouse|DB::|\.js:\d/);
    return { call, response };
  }

  /** Sends that many. What is refused, or only read, changes nothing that is kept. */
  async function sendAll(
    operation: Operation,
    count: number,
    make: (random: Random, seed: number) => MalformedCall,
    first = 0,
  ) {
    const sent: Sent[] = [];
    // A generator for each, so that one request can be sent again without those before it.
    const seeds = Array.from({ length: count }, (_none, index) => SEED + (first + index) * 7919);
    const sendOne = async (seed: number) => {
      sent.push(await send(operation, make(seeded(seed), seed)));
      return sent.at(-1) as Sent;
    };
    if (LISTS.test(operation.path)) await each(seeds, sendOne, AT_ONCE);
    else {
      let kept = scene.kept();
      for (const seed of seeds) {
        const { call, response } = await sendOne(seed);
        const changes = response.status < 400 && operation.method !== 'GET';
        if (changes) {
          await checkTaken(scene, operation, response);
          await scene.settled();
          kept = scene.kept();
        } else {
          const now = scene.kept();
          const isAudited = response.status < 400 && EXPORTS.test(operation.path);
          expect(now, `${response.status}, ${operation.method} ${call.url}: ${String(call.body)}`).to.deep.equal(
            isAudited ? { ...kept, audit: now['audit'] } : kept,
          );
          kept = now;
        }
      }
    }
    const statuses = new Map<number, number>();
    for (const { response } of sent) statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    return { sent, statuses, shown: `${operation.id}: ${JSON.stringify([...statuses])}` };
  }

  async function expectWell(): Promise<void> {
    const { server } = scene.api;
    expect((await server.request('GET', '/healthz', { key: null })).status).to.equal(200);
    expect((await server.request('GET', '/readyz', { key: null })).status).to.equal(200);
    const id = crypto.randomUUID();
    await scene.api.spans([{ id, name: 'well' }]);
    expect(await scene.api.get(`/spans?id=${id}`)).to.have.length(1);
  }

  /** Those of the ids that were stored. */
  async function storedOf(path: string, ids: readonly string[]): Promise<string[]> {
    const wanted = new Set(ids);
    const limit = path === '/spans' ? 10_000 : 500;
    const stored: string[] = [];
    for (let offset = 0; ; offset += limit) {
      const page = (await scene.api.get(`${path}?limit=${limit}&offset=${offset}&fields=id`)) as { id: string }[];
      stored.push(...page.map(({ id }) => id).filter((id) => wanted.has(id)));
      if (page.length < limit) return stored;
    }
  }

  async function bodies(operation: Operation, calls: MalformedCalls): Promise<void> {
    const count = countOf(operation, 0.2);
    const make = (random: Random, seed: number) => calls.withBody(random, seed);
    const { sent, statuses, shown } = await sendAll(operation, count, make);
    const never = NEVER_TAKEN[operation.id];
    let isTaken = takenOf(statuses).length > 0;
    let isMalformed = statuses.has(400);
    let isRefusedAsEver = never === undefined || statuses.has(never);
    // Mutations that never get past the parser, or are never refused, would show little.
    const shows = (invalid: number, tried: number) => invalid > tried / (calls.takesList ? 5 : 20);
    let invalid = statuses.get(422) ?? 0;
    // Of the bodies of some calls one in a hundred is taken, and of some one in thirty is no JSON.
    const isTried = (tried: number) =>
      shows(invalid, tried) && isMalformed && isRefusedAsEver && (never !== undefined || isTaken);
    for (let tried = count; !isTried(tried); tried += count) {
      expect(tried, shown).to.be.lessThan(count * TRIED_UNTIL_TAKEN);
      const more = (await sendAll(operation, count, make, tried)).statuses;
      isTaken ||= takenOf(more).length > 0;
      isMalformed ||= more.has(400);
      invalid += more.get(422) ?? 0;
      isRefusedAsEver ||= more.has(never ?? 0);
    }
    if (never !== undefined) expect(isTaken, shown).to.equal(false);
    const refused = sent.filter(({ response }) => response.status >= 400).flatMap(({ call }) => call.ids ?? []);
    if (calls.takesList) expect(await storedOf(operation.path, refused)).to.deep.equal([]);
  }

  async function queries(operation: Operation, calls: MalformedCalls): Promise<void> {
    const count = countOf(operation, 0.03);
    const make = (random: Random) => calls.withQuery(random);
    const { statuses, shown } = await sendAll(operation, count, make);
    const strict = ({ type, enum: values, pattern }: Schema) => type !== 'string' || (values ?? pattern) !== undefined;
    const typed = operation.parameters.some(({ in: place, schema }) => place === 'query' && strict(schema));
    if (LISTS.test(operation.path)) expect(statuses.get(422) ?? 0, shown).to.be.greaterThan(count / 5);
    let isRefused = statuses.has(422);
    // Of a call that takes many texts, some few odd queries may all be taken.
    for (let tried = count; typed && !isRefused; tried += count) {
      expect(tried, shown).to.be.lessThan(count * TRIED_UNTIL_TAKEN);
      isRefused = (await sendAll(operation, count, make, tried)).statuses.has(422);
    }
    const sound = NEVER_TAKEN[operation.id] ?? 200;
    // What was taken may have changed what it names, such as the newest version that a client knows.
    await scene.renew();
    const { url, ...sent } = new MalformedCalls(scene, operation).soundCall;
    if (typed) expect((await scene.api.server.request(operation.method, url, sent)).status, shown).to.equal(sound);
    if (typed && operation.method !== 'GET') scene.used();
  }

  /** Tries those operations of the document that take such a thing. */
  async function tryAll(
    work: (operation: Operation, calls: MalformedCalls) => Promise<unknown>,
    takes: (calls: MalformedCalls) => boolean,
  ) {
    const tried: string[] = [];
    for (const operation of scene.document.operations) {
      const calls = new MalformedCalls(scene, operation);
      if (OTHER_FORMATS.has(operation.id) || !takes(calls)) continue;
      await scene.renew();
      await work(operation, calls);
      tried.push(operation.id);
    }
    await expectWell();
    return tried;
  }

  it('with odd bodies are refused clearly, or taken', async () => {
    expect(await tryAll(bodies, (calls) => calls.takesBody)).to.include.members([
      'postSpans',
      'createJudge',
      'postReview',
    ]);
  });

  it('with unknown names are refused, which are named', async () => {
    await scene.renew();
    const bodies: string[] = [];
    const queries: string[] = [];
    for (const operation of scene.document.operations) {
      const calls = new MalformedCalls(scene, operation);
      const issues = async (url: string, sent: { readonly body?: unknown }) => {
        const { status, text, json } = await scene.api.server.request(operation.method, url, sent);
        expect(status, `${operation.method} ${url}: ${text.slice(0, 300)}`).to.equal(422);
        return (json.errors as { pointer: string; detail: string }[]).map((each) => `${each.pointer} ${each.detail}`);
      };
      for (const { body, pointer } of calls.unknownNames) {
        expect(await issues(calls.sound, { body })).to.include(`${pointer} is unknown`);
        bodies.push(`${operation.id} ${pointer}`);
      }
      // Deleting another project is refused before anything else is looked at.
      if (!calls.takesNoOthers || operation.id === 'deleteProject') continue;
      expect((await issues(`${calls.sound}${calls.sound.includes('?') ? '&' : '?'}zyx=1`, {})).join()).to.match(
        /(^|,)\?zyx is unknown; /,
      );
      queries.push(operation.id);
    }
    expect(bodies).to.include.members([
      'createJudge /zyx',
      'createJudge /filters/zyx',
      'createJudge /criteria/0/zyx',
      'recordEvaluation /criteria_scores/a/zyx',
      'putModelPrice /zyx',
      'promoteCandidate /zyx',
    ]);
    expect(queries).to.include.members([
      'getPrompt',
      'listPromptTags',
      'listJudgeEvaluations',
      'deleteSpan',
      'createApiKey',
    ]);
    expect(queries).to.not.include.members(['listSpans']);
  });

  it('with odd queries are refused clearly, or answered', async () => {
    expect(await tryAll(queries, (calls) => calls.takesQuery)).to.include.members(['listSpans', 'getCalibration']);
  });

  it('with odd paths are refused clearly, or taken', async () => {
    const count = Math.ceil(OFTEN * 0.015);
    const paths = (operation: Operation, calls: MalformedCalls) =>
      sendAll(operation, count, (random) => calls.withPath(random));
    expect(await tryAll(paths, (calls) => calls.takesPath)).to.include.members(['explainJudge', 'deleteProject']);
  });

  it('with odd headers are refused clearly, or taken', async () => {
    const count = Math.ceil(OFTEN * 0.01);
    const headers = (operation: Operation, calls: MalformedCalls) =>
      sendAll(operation, count, (random) => calls.withHeaders(random));
    const tried = await tryAll(headers, () => true);
    expect(tried).to.have.length(scene.document.operations.length - OTHER_FORMATS.size);
  });

  it('by the key of another project change nothing of this one, and are told nothing of it', async () => {
    await scene.renew();
    scene.used();
    await scene.settled();
    const { server } = scene.api;
    const { projectId: mine, key } = makeProject(server.dataDir);
    const there = server.projectId;
    const everything = async () => {
      const parts: unknown[] = [];
      for (const part of PARTS)
        parts.push((await scene.api.get(`/projects/${there}/export/${part}?limit=1000`)).records);
      return [
        ...parts,
        await scene.api.get(`/projects/${there}/monitors`),
        await scene.api.get(`/projects/${there}/webhooks`),
      ];
    };
    const before = await everything();
    let missing = 0;
    for (const operation of scene.document.operations) {
      // A deletion of its own project would end its key.
      if (operation.isPublic || operation.id === 'deleteProject' || OTHER_FORMATS.has(operation.id)) continue;
      const { url, body, headers } = new MalformedCalls(scene, operation).boldCall;
      const sent = {
        key,
        ...(headers && { headers }),
        ...(body !== undefined && { body: String(body).replaceAll(there, mine) }),
      };
      const { status, text } = await server.request(operation.method, url.replaceAll(there, mine), sent);
      const shown = `${operation.id}: ${status} ${text.slice(0, 300)}`;
      expect(status, shown).to.be.below(500);
      if (status === 404) missing += 1;
      if (status < 400) expect(text, shown).not.to.include(there).and.not.include('Say {{what}}');
    }
    expect(missing).to.be.above(60);
    expect(await everything()).to.deep.equal(before);
  });

  it('is quiet afterwards', async () => {
    await wait(200);
    const { text } = await scene.api.server.request('GET', '/metrics', { key: null });
    expect(text).to.not.match(/http_request_duration_seconds_count\{[^}]*status="5\d\d"/);
    expect(text).to.match(/spanhouse_jobs_finished_total\{kind="optimization",result="failed"\} [1-9]/);
  });
});
