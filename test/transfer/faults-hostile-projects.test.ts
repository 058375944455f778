import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PARTS, type MetadataPart } from '../../src/features/transfer/parts.js';
import { runCheck } from '../check/scene.js';
import { untilGone } from '../deletion/tombstone-gc.js';
import { makeProject } from '../harness/projects.js';
import { seedOf } from '../harness/seed.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { below, pick, seeded, type Random } from '../http/malformed-requests.js';
import { freshIds, importInto, madeRecords, type Importing, type Members, type Named } from './made-records.js';
import { bootTarget } from './moved-project.js';

const SEED = seedOf('HOSTILE_SEED');
const PROJECTS = Number(process.env['HOSTILE_PROJECTS'] ?? 4);
const REQUESTS = 80;
const METADATA = PARTS.filter(
  (part): part is MetadataPart => !['spans', 'traces', 'sessions', 'scores', 'attachments'].includes(part),
);
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString().replace('Z', '000Z');

/** Values that fields of a name take, each sound by itself. */
const VALUES: Readonly<Record<string, (random: Random) => unknown>> = {
  version: (random) => pick(random, [1, 2, 3, 1e9, null]),
  last_version: (random) => pick(random, [0, 1, 2, 1e9 - 1, 1e9]),
  tag: (random) => pick(random, ['production', 'a', 'b']),
  score: (random) => pick(random, [null, 0, -1e308, 1e308]),
  score_min: (random) => pick(random, [null, 0, -1e308]),
  score_max: (random) => pick(random, [null, 1, 1e308]),
  pass_threshold: (random) => pick(random, [null, 0.5, 1]),
  evaluation_type: (random) => pick(random, ['binary', 'scored']),
  evaluation_duration_ms: (random) => pick(random, [null, 0, 1e300]),
  origin: (random) => pick(random, ['automatic', 'requested', 'external']),
  judge_version: (random) => pick(random, [null, '', 'v1', '/none', 'x/e1']),
  judge_id: () => undefined,
  revision: (random) => pick(random, [0, 1, 2, 1e9, 2 ** 52]),
  corrections_revision: (random) => pick(random, [0, 1, 1e9, 2 ** 52]),
  corrections_last_removal: (random) => pick(random, [0, 5, 2 ** 52]),
  thumbs_up: (random) => pick(random, [true, false]),
  sample_rate: (random) => pick(random, [0, 1]),
  expected_score: (random) => pick(random, [null, 1e308, -0]),
  metadata: (random) => pick(random, [{}, { a: null }, JSON.parse('{"__proto__":{"a":1}}')]),
  model_id: (random) => pick(random, [null, 'openai/gpt-4o', 'x']),
  deleted_at: (random) => pick(random, [null, at(0)]),
  revoked_at: (random) => pick(random, [null, at(0)]),
  expires_at: (random) => pick(random, [at(0), '2254-12-31T23:59:59.999999Z', '1970-01-01T00:00:00.000000Z']),
  input_per_million: (random) => pick(random, [0, 1e9, 1e-300]),
  provider: (random) => pick(random, ['acme', 'ACME', 'ÄCME', 'äcme']),
  model: (random) => pick(random, ['m', 'M', 'openai/m']),
};

/** Ids that are the same for the same seed. */
function uuids(random: Random): () => string {
  const digits = (count: number) => Array.from({ length: count }, () => below(random, 16).toString(16)).join('');
  return () => `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`;
}

/**
 * Whatever a project was sent, it can be read, exported, imported elsewhere and deleted, and others are what they were. The records are
 * each sound by itself, and name each other, people of all kinds and what is there already at random.
 */
describe(`projects that hostile imports made (HOSTILE_SEED=${SEED})`, function () {
  this.timeout(600_000);
  let server: TestServer;
  let elsewhere: TestServer;
  before(async () => {
    [server, elsewhere] = [await bootServer(), await bootTarget()];
  });
  after(async () => {
    await server.dispose();
    await elsewhere.dispose();
  });

  const another = (of: TestServer): Importing => ({ url: of.url, ...makeProject(of.dataDir) });
  const request = ({ url, key }: Importing, method: string, path: string, body?: unknown) =>
    send(url + path, method, { key, ...(body === undefined ? {} : { body }) });

  async function exportedOf(of: Importing): Promise<Map<MetadataPart, Members[]>> {
    const all = new Map<MetadataPart, Members[]>();
    for (const part of METADATA) {
      const records: Members[] = [];
      for (let after: string | null = ''; after !== null;) {
        const path = `/projects/${of.projectId}/export/${part}?limit=7${after === '' ? '' : `&after=${after}`}`;
        const { status, json, text } = await request(of, 'GET', path);
        expect(status, text).to.equal(200);
        records.push(...(json.records as Members[]));
        after = json.more === true ? (json.next as string) : null;
      }
      all.set(part, records);
    }
    return all;
  }

  async function readAll(of: Importing): Promise<void> {
    const project = `/projects/${of.projectId}`;
    const read = async (path: string) => {
      const { status, json, text } = await request(of, 'GET', path);
      expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
      return json as Members[];
    };
    await read('/feedback-links');
    await read(`${project}/model-prices`);
    await read(`${project}/judges:stats`);
    for (const { slug } of await read(`${project}/prompts?include=figures`))
      for (const what of ['versions', 'tags', 'feedback', 'completions', 'versions:stats'])
        await read(`${project}/prompts/${String(slug)}/${what}`);
    for (const { id } of await read(`${project}/judges?include=figures`))
      for (const what of ['', '/criteria', '/evaluations', '/calibration', '/runs'])
        await read(`${project}/judges/${String(id)}${what}`);
  }

  /** Sends records that name each other at random. @returns how many requests were taken */
  async function attack(target: Importing, people: readonly Members[], random: Random): Promise<number> {
    const uuid = uuids(random);
    const pool = Array.from({ length: 3 }, () => freshIds(uuid));
    let taken = 0;
    for (let count = 0; count < REQUESTS; count += 1) {
      const part = count < METADATA.length ? METADATA[count]! : pick(random, METADATA);
      const records = Array.from({ length: 1 + below(random, 4) }, () => {
        const ids = Object.fromEntries(
          Object.keys(pool[0]!).map((name) => [name, pick(random, pool)[name as keyof Named]]),
        ) as unknown as Named;
        const fresh = below(random, 2) === 0 ? ids : { ...ids, evaluation: uuid(), feedback: uuid() };
        const record = { ...madeRecords(fresh, pick(random, people), uuid)[part] };
        if (part === 'prompts') record['slug'] = `task-${ids.prompt}`;
        for (const name of Object.keys(record)) {
          const value = below(random, 4) === 0 ? VALUES[name]?.(random) : undefined;
          if (value !== undefined) record[name] = value;
          else if (name.endsWith('_at') && typeof record[name] === 'string' && below(random, 3) === 0)
            record[name] = at(below(random, 1000));
        }
        if (part === 'feedback') {
          if (below(random, 2) === 0) record['judge_id'] = null;
          if (below(random, 3) === 0) record['feedback_link_id'] = null;
        }
        return record;
      });
      const { status, text } = await importInto(target, part, records);
      expect(status, `${part}: ${text.slice(0, 300)}`).to.be.oneOf([200, 409, 422]);
      if (status === 200) taken += 1;
    }
    return taken;
  }

  const plain = (all: Map<MetadataPart, Members[]>) =>
    METADATA.map((part) => [part, (all.get(part) ?? []).map((record) => JSON.stringify(record)).sort()]);

  async function peopleOf(target: Importing, victim: Importing): Promise<Members[]> {
    const invite = { name: 'Invited' };
    const { json } = await request(target, 'POST', `/projects/${target.projectId}/invites`, invite);
    const owner = (await request(target, 'GET', '/whoami')).json.user as Members;
    const theirs = (await exportedOf(victim)).get('judges')?.[0]?.['created_by'] as Members;
    const invited = json.user as Members | undefined;
    const named = [owner, theirs, ...(invited === undefined ? [] : [invited])].map(({ id, name }) => ({ id, name }));
    return [...named, ...[1, 2, 3].map((number) => ({ id: randomUUID(), name: `Person ${number}` }))];
  }

  for (let index = 0; index < PROJECTS; index += 1)
    it(`can be read, moved and deleted: ${index}`, async () => {
      const random = seeded(SEED + index * 7919);
      const [target, victim] = [another(server), another(server)];
      const records = madeRecords(freshIds(), { id: randomUUID(), name: 'Victim' });
      for (const part of METADATA) expect((await importInto(victim, part, [records[part]])).status).to.equal(200);
      const before = plain(await exportedOf(victim));
      const taken = await attack(target, await peopleOf(target, victim), random);
      expect(taken).to.be.greaterThan(METADATA.length);
      await readAll(target);
      const all = await exportedOf(target);
      const there = another(elsewhere);
      for (const part of METADATA) {
        const { status, text } = await importInto(there, part, all.get(part) ?? []);
        expect(status, `${part}: ${text.slice(0, 500)}`).to.equal(200);
      }
      const off = (all: Map<MetadataPart, Members[]>) =>
        plain(
          new Map(
            [...all].map(([part, records]) => [
              part,
              records.map((record) => ('enabled' in record ? { ...record, enabled: false } : record)),
            ]),
          ),
        );
      const moved = off(await exportedOf(there));
      for (const [index, [part, records]] of off(all).entries())
        expect(moved[index]?.[1], String(part)).to.deep.equal(records);
      const { found, stderr } = await runCheck(server.dataDir);
      // There are no spans at all, and versions of datasets without all of their rows, as where an import was interrupted.
      expect(
        Object.keys(found).filter((flaw) => !['evaluation_without_span', 'dataset_counts'].includes(flaw)),
        stderr,
      ).to.deep.equal([]);
      for (const doomed of [target, there])
        expect((await request(doomed, 'DELETE', `/projects/${doomed.projectId}`)).status).to.equal(202);
      await untilGone(server.dataDir, [target.projectId]);
      await untilGone(elsewhere.dataDir, [there.projectId]);
      expect(plain(await exportedOf(victim))).to.deep.equal(before);
      await readAll(victim);
    });
});
