import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { hashOf } from '../../src/features/prompts/version-rules.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { unhurried } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { freshIds, importInto, importNew, madeRecords, type Members } from './made-records.js';

const MANY = 46_000;
/** With one time, whose every version was looked at for each. */
const MANY_AT_ONCE = 150_000;
/** It took seven seconds when each looked at all that were stored; a busy machine takes many times the 60 ms of an idle one. */
const MAX_MS = 1_500;
const ANN = { id: randomUUID(), name: 'Ann' };

describe('moves of tags that are imported', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

  /** A prompt with versions of these numbers, and its path. */
  async function promptWith(...versions: readonly number[]) {
    const ids = freshIds();
    const { prompts, prompt_versions: version, tag_moves: move } = madeRecords(ids, ANN);
    await importNew(server, 'prompts', [prompts]);
    const numbered = versions.map((number) => {
      const content = `${ids.prompt} ${number}`;
      return { ...version, id: randomUUID(), version: number, content, content_hash: hashOf(content) };
    });
    await importNew(server, 'prompt_versions', numbered);
    const path = `/projects/${server.projectId}/prompts/${String(prompts['slug'])}`;
    const moves = (...records: readonly (readonly [number | null, number])[]) =>
      records.map(([number, second]): Members => ({ ...move, version: number, pinned_at: at(second) }));
    return { prompt: ids.prompt, path, moves, production: () => production(path) };
  }

  async function production(path: string): Promise<number | null> {
    const { json } = await server.request('GET', `${path}/tags`);
    const found = (json as { tag: string; version: number }[]).find(({ tag }) => tag === 'production');
    return found?.version ?? null;
  }
  const history = async (path: string) =>
    ((await server.request('GET', `${path}/tags/production/history`)).json as { version: number }[]).map(
      ({ version }) => version,
    );

  it('say where a tag points by the latest of them, in whatever order they come', async () => {
    const { moves, production: pointsAt, path } = await promptWith(1, 2, 3);
    await importNew(server, 'tag_moves', moves([2, 20]));
    await importNew(server, 'tag_moves', moves([3, 10], [null, 15]));
    expect(await pointsAt()).to.equal(2);
    expect(await history(path)).to.deep.equal([2, null, 3]);
    await importNew(server, 'tag_moves', moves([1, 30]));
    expect(await pointsAt()).to.equal(1);
    await importNew(server, 'tag_moves', moves([null, 31]));
    expect(await pointsAt()).to.equal(null);
  });

  it('move back no tag that was moved here since', async () => {
    const { moves, production: pointsAt, path } = await promptWith(1, 2);
    const pinned = await server.request('POST', `${path}/tags/production:pin`, { body: { version: 2 } });
    expect(pinned.status).to.equal(200);
    await importNew(server, 'tag_moves', moves([1, 5], [null, 6]));
    expect(await pointsAt()).to.equal(2);
    expect(await history(path)).to.deep.equal([2, null, 1]);
  });

  it('move no tag to a version that is not there, now or ever', async () => {
    const { moves, production: pointsAt, path } = await promptWith(1);
    await importNew(server, 'tag_moves', moves([1, 5], [2, 10]));
    expect(await pointsAt()).to.equal(1);
    expect(await history(path)).to.deep.equal([2, 1]);
    const slug = path.split('/').at(-1) ?? '';
    const ensured = await server.request('POST', `/v1/tasks/${slug}/prompt/versions/ensure`, {
      body: { content: 'x' },
    });
    expect(ensured.json.version).to.equal(2);
    expect(await pointsAt()).to.equal(1);
    expect((await server.request('GET', `/v1/prompts/${slug}?tag=production`)).json.version).to.equal(1);
    expect((await server.request('POST', `${path}/tags/production:pin`, { body: { version: 2 } })).status).to.equal(
      200,
    );
    expect(await pointsAt()).to.equal(2);
  });

  it('keep no move that is made here from exports, also where they are minutes ahead', async () => {
    const { prompt, moves, path } = await promptWith(1, 2);
    const [move] = moves([1, 0]);
    const ahead = new Date(Date.now() + 240_000).toISOString();
    await importNew(server, 'tag_moves', [{ ...move, pinned_at: ahead }]);
    const exported = async () => {
      const { json } = await server.request('GET', `/projects/${server.projectId}/export/tag_moves?limit=5000`);
      return {
        asOf: json.as_of as string,
        moves: (json.records as Members[]).filter((of) => of['prompt_id'] === prompt),
      };
    };
    const before = await exported();
    expect(before.moves.map(({ version }) => version)).to.deep.equal([1]);
    const pinned = await server.request('POST', `${path}/tags/production:pin`, { body: { version: 2 } });
    expect(pinned.status).to.equal(200);
    expect((await server.request('DELETE', `${path}/tags/production`)).status).to.equal(204);
    const after = await exported();
    expect(after.moves.map(({ version }) => version)).to.deep.equal([1, 2, null]);
    // Sent again, they are what they were; and an export goes on as of the moment at which it began.
    expect((await importInto(server, 'tag_moves', after.moves)).json).to.deep.equal({ stored: 0, unchanged: 3 });
    const { json } = await server.request(
      'GET',
      `/projects/${server.projectId}/export/tag_moves?limit=5000&as_of=${before.asOf}`,
    );
    const then = (json.records as Members[]).filter((of) => of['prompt_id'] === prompt);
    expect(then.map(({ version }) => version)).to.deep.equal([1]);
  });

  for (const { what, count, stored, sent } of [
    { what: 'stored', count: MANY, stored: '1, n, 1', sent: (index: number) => [1, index] as const },
    {
      what: 'stored with the same time',
      count: MANY_AT_ONCE,
      stored: `5000 + n, ${Date.UTC(2026, 0, 1) * 1000}, 0`,
      sent: (index: number) => [1 + index, 0] as const,
    },
  ])
    it(`are taken at once beside ${count} that are ${what}`, async () => {
      const { prompt, moves, path } = await promptWith(1);
      const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE), { timeout: 10_000 });
      try {
        database
          .prepare(
            `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ${count})
             INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, counts, pinned_by)
             SELECT ?, 'production', ${stored}, (SELECT id FROM users LIMIT 1) FROM many`,
          )
          .run(prompt);
      } finally {
        database.close();
      }
      const records = moves(...Array.from({ length: 1000 }, (_, index) => sent(index)));
      const began = performance.now();
      const answer = importInto(server, 'tag_moves', records);
      const slowest = await slowestAnswer(answer);
      expect((await answer).json).to.deep.equal({ stored: 1000, unchanged: 0 });
      expect(performance.now() - began).to.be.below(unhurried(MAX_MS));
      expect(slowest).to.be.below(unhurried(MAX_MS));
      const looked = performance.now();
      expect(await production(path)).to.equal(1);
      expect(performance.now() - looked).to.be.below(unhurried(MAX_MS / 5));
    });

  /** How long another client waited at most while something went on, in milliseconds. */
  async function slowestAnswer(while_: Promise<unknown>): Promise<number> {
    let slowest = 0;
    let going = true;
    void while_.finally(() => (going = false));
    while (going) {
      const began = performance.now();
      await server.request('GET', '/healthz');
      slowest = Math.max(slowest, performance.now() - began);
    }
    return slowest;
  }
});

describe('a SQLite file whose tags were moved by imports', () => {
  it('keeps where tags point, but at no version that is not there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-tags-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      migrate(
        database,
        files.slice(
          0,
          files.findIndex(({ name }) => name === 'tag_moves'),
        ),
      );
      const pin = (tag: string, version: number, at: number) => `('q', '${tag}', ${version}, ${at}, 'u')`;
      database.exec(`
        INSERT INTO users VALUES ('u', 'Ann', NULL, 1);
        INSERT INTO projects (id, name, created_at) VALUES ('p', 'Project', 1);
        INSERT INTO prompts (id, project_id, slug, created_at, last_version) VALUES ('q', 'p', 'slug', 1, 2);
        ${[1, 2].map((number) => `INSERT INTO prompt_versions VALUES ('v${number}', 'q', ${number}, '${String(number).repeat(64)}', NULL, '{}', 1, 'u', 1, 'text');`).join('\n')}
        INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, pinned_by) VALUES
          ${pin('back', 2, 20)}, ${pin('back', 1, 10)}, ${pin('gone', 1, 1)}, ${pin('gone', 7, 2)},
          ${pin('removed', 1, 1)}, ${pin('removed', 0, 2)}, ${pin('ahead', 1, 9e15)}, ${pin('ahead', 2, 3)};
      `);
      migrate(database, files);
      const store = new SqlitePromptStore(database);
      expect(store.listTags('p', 'slug')).to.deep.equal([
        { tag: 'ahead', version: 2 },
        { tag: 'back', version: 1 },
        { tag: 'gone', version: 1 },
      ]);
      // A clock that goes back makes no move an old one.
      for (const version of [2, 1, 2]) store.pin('p', 'slug', { tag: 'back', version }, 5, 'u');
      expect(store.listTags('p', 'slug')).to.deep.include({ tag: 'back', version: 2 });
      const times = store.tagHistory('p', 'slug', 'back', { limit: 9, offset: 0 }).map(({ at }) => at);
      expect(times).to.deep.equal([23, 22, 21, 20, 20]);
      expect(
        Math.max(...database.prepare<[], number>('SELECT pinned_at FROM prompt_tag_pins').pluck().all()),
      ).to.be.below(Date.now() * 1000 + 60e6);
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
