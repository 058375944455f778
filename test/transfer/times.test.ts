import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import type { MetadataPart } from '../../src/features/transfer/parts.js';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { freshIds, importInto, importNew, madeRecords, type Importing, type Members } from './made-records.js';

const IN_2250 = '2250-01-01T00:00:00.000000Z';
const PARTS = [
  'prompts',
  'prompt_versions',
  'tag_moves',
  'prices',
  'feedback_links',
  'judges',
  'evaluations',
  'feedback',
  'span_feedback',
  'corrections',
  'comments',
] as const satisfies readonly MetadataPart[];

describe('times of imported records', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  const another = (): Importing => ({ url: server.url, ...makeProject(server.dataDir) });
  const request = ({ url, key }: Importing, method: string, path: string, body?: unknown) =>
    send(url + path, method, { key, ...(body === undefined ? {} : { body }) });
  const exported = async (of: Importing, part: string): Promise<Members[]> =>
    (await request(of, 'GET', `/projects/${of.projectId}/export/${part}`)).json.records as Members[];
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

  async function evaluated(of: Importing, judge: string, span: string): Promise<Members> {
    const path = `/projects/${of.projectId}/judges/${judge}/evaluations`;
    const { status, json, text } = await request(of, 'POST', path, { span_id: span, evaluation_result: true });
    expect(status, text).to.equal(201);
    return json as Members;
  }
  async function judgeOf(of: Importing): Promise<{ judge: string; span: string }> {
    const ids = freshIds();
    const records = madeRecords(ids, { id: randomUUID(), name: 'Ann' });
    for (const part of ['prompts', 'judges'] as const) await importNew(of, part, [records[part]]);
    return ids;
  }
  function change(sql: string): void {
    const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE));
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }

  it('are refused beyond now, but for when a link expires', async () => {
    const project = another();
    const records = madeRecords(freshIds(), { id: randomUUID(), name: 'Ann' });
    for (const part of PARTS) {
      const sound = records[part];
      for (const name of Object.keys(sound).filter((each) => each.endsWith('_at'))) {
        const record = { ...sound, [name]: IN_2250 };
        const { status, json, text } = await importInto(project, part, [record]);
        if (name === 'expires_at') continue;
        expect(status, `${part} ${name}: ${text}`).to.equal(422);
        expect(json.errors[0].pointer).to.equal(`/0/${name}`);
        expect(json.errors[0].detail).to.match(/^must not be in the future; the time on this server is 20\d\d-/);
        expect((await importInto(project, part, [{ ...sound, [name]: inSeconds(600) }])).status).to.equal(422);
      }
      expect((await importInto(project, part, [sound])).status).to.equal(200);
    }
    const [{ expires_at } = {}] = await exported(project, 'feedback_links');
    expect(expires_at).to.equal(IN_2250);
  });

  it('of spans are refused where servers set them, and stay what clients sent otherwise', async () => {
    const project = another();
    const sent = { trace_id: randomUUID(), name: 'a', started_at: '2250-01-01T00:00:00Z' };
    expect((await request(project, 'POST', '/spans', [sent])).status).to.equal(200);
    const [span] = await exported(project, 'spans');
    for (const name of ['created_at', 'written_at']) {
      const { status, json } = await importInto(project, 'spans', [{ ...span, id: randomUUID(), [name]: IN_2250 }]);
      expect([status, json.errors[0].pointer]).to.deep.equal([422, `/0/${name}`]);
    }
    await importNew(project, 'spans', [{ ...span, id: randomUUID() }]);
  });

  it('are now where the clock of the other server is a little ahead', async () => {
    const project = another();
    const { judge, span } = await judgeOf(project);
    const ids = { ...freshIds(), judge, span };
    const { evaluations } = madeRecords(ids, {});
    await importNew(project, 'evaluations', [{ ...evaluations, created_at: inSeconds(120) }]);
    const [stored] = await exported(project, 'evaluations');
    expect(Date.parse(String(stored?.['created_at']))).to.be.at.most(Date.now());
    const again = await importInto(project, 'evaluations', [{ ...evaluations, created_at: inSeconds(120) }]);
    expect(again.json).to.deep.equal({ stored: 0, unchanged: 1 });
  });

  it('date no evaluation of another judge, and save none from a deletion', async () => {
    const [one, other] = [another(), another()];
    const [{ judge, span }, theirs] = [await judgeOf(one), await judgeOf(other)];
    const { id } = await evaluated(one, judge, span);
    // As a server before 0.2 took it from an import.
    change(`UPDATE evaluations SET created_at = ${Date.parse(IN_2250) * 1000} WHERE id = '${String(id)}'`);
    for (const [of, its] of [
      [other, theirs.judge],
      [one, (await judgeOf(one)).judge],
    ] as const) {
      const { created_at } = await evaluated(of, its, span);
      expect(Date.parse(String(created_at))).to.be.at.most(Date.now() + 1000);
    }
    expect(await exported(other, 'evaluations')).to.have.length(1);
    expect((await request(one, 'DELETE', `/spans/${span}`)).status).to.equal(204);
    const left = await request(one, 'GET', `/projects/${one.projectId}/judges/${judge}/evaluations`);
    expect(left.json.evaluations).to.deep.equal([]);
  });
});
