import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { withTurns } from '../../src/engine/work/portions.js';
import type { SelectedVersion } from '../../src/features/prompts/prompt.js';
import { NO_AUDIT_LOG } from '../../src/engine/identity/audit.js';
import { PromptService } from '../../src/features/prompts/prompt-service.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { listVersionsRoute } from '../../src/features/prompts/http/version-routes.js';
import { send } from '../harness/server.js';
import { bootApp } from '../http/app-harness.js';
import { sha256 } from './prompt-api.js';

describe('the list of the versions of a prompt', () => {
  let folder: string;
  let database: Database;
  let prompts: PromptService;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spanhouse-versions-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(`INSERT INTO users (id, name, email, created_at) VALUES ('u', 'Ann', NULL, 1);
      INSERT INTO projects (id, name, created_at) VALUES ('p', 'Project', 1)`);
    const modelName = (_project: string, provider: string | null, model: string) => ({ provider, model });
    prompts = new PromptService({
      audit: NO_AUDIT_LOG,
      announce: () => undefined,
      store: new SqlitePromptStore(database),
      modelName: modelName,
      observer: { promptFetched: () => undefined },
    });
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const principal = { project_id: 'p', user_id: 'u' } as never;
  const ensure = (content: string) => prompts.ensure(principal, 'slug', { content });
  /** Numbers of the listed versions; a list without an end, which would leave no turn for a timeout of the test, is an error. */
  function numbersOf(versions: Iterable<SelectedVersion>, atMost = 100): number[] {
    const numbers: number[] = [];
    for (const { version } of versions) if (numbers.push(version) > atMost) throw new Error('The list has no end');
    return numbers;
  }

  it('comes to an end, also with numbers that are too high to be read exactly', () => {
    ensure('one');
    // As servers before 0.2 counted them, behind what an import said.
    const insert = database.prepare(
      `INSERT INTO prompt_versions (id, prompt_id, version, content_hash, metadata, created_at, created_by, updated_at, content)
       SELECT ?, prompt_id, ?, ?, '{}', 1, 'u', 1, 'text' FROM prompt_versions LIMIT 1`,
    );
    for (const after of [1n, 2n, 3n, 4n, 5n]) {
      const number = 2n ** 53n + after;
      insert.run(`v${after}`, number, sha256(String(number)));
    }
    expect(numbersOf(prompts.versions('p', 'slug')).slice(0, 2)).to.deep.equal([1, 2 ** 53]);
  });

  it('ends where its versions, or the prompt, are deleted while it is read', () => {
    for (const content of ['one', 'two', 'three', 'four']) ensure(content);
    const reading = prompts.versions('p', 'slug')[Symbol.iterator]();
    expect(reading.next().value).to.include({ version: 1 });
    prompts.deleteVersion(principal, 'slug', 2);
    expect(reading.next().value).to.include({ version: 3 });
    for (const version of [1, 3, 4]) prompts.deleteVersion(principal, 'slug', version);
    // Another prompt with its slug, and as many versions.
    for (const content of ['a', 'b', 'c', 'd']) ensure(content);
    expect(reading.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('leaves others their turns while it is made', async () => {
    const version: SelectedVersion = { ...ensure('one'), tag: null };
    let sinceTurn = 0;
    let mostInTurn = 0;
    let turn: NodeJS.Immediate | undefined;
    const takeTurn = () => {
      sinceTurn = 0;
      turn = setImmediate(takeTurn);
    };
    const many = function* () {
      for (let number = 1; number <= 100; number += 1) {
        busy(5);
        mostInTurn = Math.max(mostInTurn, (sinceTurn += 1));
        yield { ...version, version: number };
      }
    };
    const app = await bootApp([listVersionsRoute({ versions: many })]);
    try {
      takeTurn();
      const path = `/projects/${app.projectId}/prompts/slug/versions`;
      const { status, json } = await send(app.url + path, 'GET', { key: app.key });
      expect([status, (json as unknown[]).length]).to.deep.equal([200, 100]);
      expect(mostInTurn).to.be.at.most(5);
    } finally {
      clearImmediate(turn);
      await app.stop();
    }
  });

  it('is well-formed where nothing is left of it', async () => {
    const app = await bootApp([listVersionsRoute({ versions: () => [] })]);
    try {
      const path = `/projects/${app.projectId}/prompts/slug/versions`;
      expect((await send(app.url + path, 'GET', { key: app.key })).text).to.equal('[]');
    } finally {
      await app.stop();
    }
  });
});

describe('what is handed on with turns', () => {
  it('is all there, and an end by the receiver ends its maker', async () => {
    let ended = false;
    const numbers = function* () {
      try {
        for (let number = 0; number < 5; number += 1) yield number;
      } finally {
        ended = true;
      }
    };
    const all: number[] = [];
    for await (const number of withTurns(numbers())) all.push(number);
    expect(all).to.deep.equal([0, 1, 2, 3, 4]);
    ended = false;
    for await (const number of withTurns(numbers())) if (number === 2) break;
    expect(ended).to.equal(true);
  });
});

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
