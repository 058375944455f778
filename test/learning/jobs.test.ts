import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { RETRIES } from '../../src/engine/work/backoff.js';
import { JobFailure, type Job } from '../../src/engine/work/job.js';
import { JobRunner } from '../../src/engine/work/job-runner.js';
import type { JobWork } from '../../src/engine/work/job-work.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteJobStore } from '../../src/engine/work/store/job-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';

describe('jobs', function () {
  this.timeout(20_000);
  let folder: string;
  let database: Database;
  let store: SqliteJobStore;
  const runners: JobRunner[] = [];
  const events: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spanhouse-jobs-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('project', 'p', 0), ('other', 'o', 0);
      INSERT INTO users (id, name, created_at) VALUES ('user', 'u', 0);`);
    store = new SqliteJobStore(database);
    events.length = 0;
  });
  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.close();
    database.close();
    rmSync(folder, { recursive: true });
  });

  function runnerOf(work: JobWork): JobRunner {
    const runner = new JobRunner({
      store,
      limits: { atOnce: 2, ofProject: 2, maxAttempts: 3 },
      retry: { ...RETRIES.work, firstMs: 20 },
      observer: {
        jobFinished: ({ result }) => events.push(result),
        jobFailed: () => events.push('defect'),
        jobRetried: () => events.push('again'),
      },
    });
    runner.register('test', work);
    runners.push(runner);
    runner.start();
    return runner;
  }

  const about = { project_id: 'project', kind: 'test', subject_id: 'subject', summary: {}, created_by: 'user' };

  async function ended(runner: JobRunner, id: string): Promise<Job> {
    for (;;) {
      const job = runner.find('project', 'test', id);
      if (job.finished_at !== null) return job;
      await sleep(5);
    }
  }

  it('do each step once, also when a store did not answer in between', async () => {
    const worked: string[] = [];
    let answers = 0;
    const runner = runnerOf(async ({ step, enter, job }) => {
      enter('counting', 2);
      const first = await step('first', async () => worked.push('first'));
      const later = await step('later', async () => {
        if ((answers += 1) === 1) throw new DomainError('unavailable', 'not now');
        return worked.push('later');
      });
      return { first, later, input: job.input };
    });
    const { id } = runner.create({ ...about, input: { a: ['ü'] } });
    expect(await ended(runner, id)).to.deep.include({
      state: 'done',
      done: 2,
      total: 2,
      result: { first: 1, later: 2, input: { a: ['ü'] } },
    });
    expect(worked).to.deep.equal(['first', 'later']);
    expect(events).to.deep.equal(['again', 'done']);
  });

  it('go on with the next start when the server stops', async () => {
    const worked: number[] = [];
    const work: JobWork = async ({ step, each, signal }) => {
      await each([1, 2, 3, 4], (number) =>
        step(`${number}`, async () => {
          if (number > 2 && runners.length === 1) await sleep(60_000, undefined, { signal });
          return worked.push(number);
        }),
      );
      return worked.length;
    };
    const first = runnerOf(work);
    const { id } = first.create({ ...about, input: null });
    while (first.find('project', 'test', id).done < 2) await sleep(5);
    await first.close();
    expect(first.find('project', 'test', id)).to.include({ finished_at: null, done: 2 });
    const job = await ended(runnerOf(work), id);
    expect(job).to.include({ state: 'done', result: 4, done: 4 });
    expect(worked).to.deep.equal([1, 2, 3, 4]);
  });

  it('say why they failed; of a defect only that there was one', async () => {
    const runner = runnerOf(async ({ job }) => {
      throw job.input === 'said' ? new JobFailure('There is nothing to do') : new TypeError('secret of the inside');
    });
    const said = await ended(runner, runner.create({ ...about, input: 'said' }).id);
    expect(said).to.include({ state: 'failed', error: 'There is nothing to do' });
    const defect = await ended(runner, runner.create({ ...about, input: '' }).id);
    expect(defect.error).to.include('internal error').and.not.include('secret');
    expect(events).to.deep.equal(['failed', 'defect', 'failed']);
  });

  it('give up what else is under way when one thing fails, and wait for it to end', async () => {
    let underWay = 0;
    const runner = runnerOf(({ each, signal }) =>
      each(
        Array.from({ length: 20 }, (_, index) => index),
        async (index) => {
          underWay += 1;
          try {
            if (index === 3) throw new JobFailure('number three');
            await sleep(60_000, undefined, { signal });
          } finally {
            underWay -= 1;
          }
        },
      ),
    );
    const { id } = runner.create({ ...about, input: null });
    expect(await ended(runner, id)).to.include({ error: 'number three' });
    expect(underWay).to.equal(0);
  });

  it('that are cancelled end once, whatever they were at', async () => {
    let aborted = 0;
    const runner = runnerOf(({ signal }) => {
      signal.addEventListener('abort', () => (aborted += 1));
      return sleep(60_000, 'late', { signal });
    });
    const { id } = runner.create({ ...about, input: null });
    const waiting = [1, 2].map(() => runner.create({ ...about, input: null }).id);
    await sleep(20);
    const refused = (end: () => void) => {
      database.transaction(() => {
        end();
        throw new Error('the disk is gone');
      })();
    };
    expect(() => runner.cancel('project', 'test', id, refused)).to.throw('the disk is gone');
    expect([aborted, events, runner.find('project', 'test', id).state]).to.deep.equal([0, [], 'queued']);
    for (const each of [id, ...waiting]) expect(runner.cancel('project', 'test', each).state).to.equal('cancelled');
    expect(() => runner.cancel('project', 'test', id)).to.throw(DomainError, 'already ended');
    await sleep(20);
    expect(store.find('project', 'test', id)).to.include({ state: 'cancelled', result: null });
    expect(events).to.deep.equal(['cancelled', 'cancelled', 'cancelled']);
  });

  it('are of one project, and not too many at once', () => {
    const runner = runnerOf(({ signal }) => sleep(60_000, null, { signal }));
    const ids = Array.from({ length: 10 }, () => runner.create({ ...about, input: null }).id);
    expect(() => runner.create({ ...about, input: null })).to.throw(DomainError, 'unfinished');
    expect(() => runner.find('other', 'test', ids[0]!)).to.throw(DomainError, 'no job with this id');
    runner.create({ ...about, project_id: 'other', input: null });
    expect(store.list('project', 'test', 'subject', 3).map(({ id }) => id)).to.deep.equal(ids.slice(-3).reverse());
  });

  it('of projects take turns, and many of one keep no other waiting', async () => {
    const begun: string[] = [];
    const runner = runnerOf(async ({ job }) => {
      begun.push(job.project_id);
      await sleep(20);
      return null;
    });
    const mine = Array.from({ length: 10 }, () => runner.create({ ...about, input: null }).id);
    const { id } = runner.create({ ...about, project_id: 'other', input: null });
    for (const each of mine) await ended(runner, each);
    expect(store.find('other', 'test', id)).to.include({ state: 'done' });
    expect(begun.indexOf('other'), begun.join(' ')).to.be.lessThan(3);
  });

  it('make way for others while they are to be tried again, and are given up in the end', async () => {
    const worked: string[] = [];
    const runner = runnerOf(async ({ job, step }) => {
      worked.push(job.input as string);
      if (job.input === 'sound') return null;
      if (job.input === 'slow')
        for (const name of ['a', 'b', 'c', 'd']) {
          let isNew = false;
          await step(name, async () => (isNew = true));
          if (isNew) throw new DomainError('unavailable', 'later');
        }
      if (job.input !== 'slow') throw new DomainError('unavailable', 'ClickHouse does not answer');
      return 'whole';
    });
    const stuck = ['one', 'two'].map((input) => runner.create({ ...about, input }).id);
    const sound = runner.create({ ...about, input: 'sound' }).id;
    expect(await ended(runner, sound)).to.include({ state: 'done' });
    for (const id of stuck)
      expect(await ended(runner, id)).to.include({
        state: 'failed',
        error: 'Failed after 3 attempts: a store did not respond',
      });
    expect(worked.filter((input) => input === 'one')).to.have.length(3);
    const slow = await ended(runner, runner.create({ ...about, input: 'slow' }).id);
    expect(slow, 'each time it got further').to.include({ state: 'done', result: 'whole', done: 4 });
  });
});
