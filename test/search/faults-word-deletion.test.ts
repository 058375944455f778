import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { migrate } from '../../src/engine/traces/migrations.js';
import { WordIndex } from '../../src/engine/traces/search/word-index.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { unhurried } from '../harness/program.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove, reopenStore, rowsOf } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';
import { watched } from '../harness/watched-client.js';

const START = Date.UTC(2026, 0, 31, 12) * 1000;
const BATCH_SPANS = 8192;
const COLUMNS = 'project_id, started_from, started_to, spans, indexed_to, complete, words, figures';

describe('words of deleted spans', function () {
  this.timeout(60_000);
  let opened: OpenedStore;
  let project: string;

  before(async () => {
    opened = await openStore();
    // The index knows from here on that little waits: it does not index rows inserted past the log before a test does.
    await opened.store.indexWords();
  });
  beforeEach(() => {
    project = randomUUID();
  });
  after(() => opened.dispose());

  const patience = () => AbortSignal.timeout(50_000);
  const startedAt = (second: number) => START + second * 1_000_000;
  const placed = (second: number) => ({ trace_id: '', id: '', started_at: startedAt(second) });
  const spanAt = (second: number, input: string, change: Partial<Span> = {}) =>
    storedSpan({ started_at: startedAt(second), input_data: input, output_data: 'done', ...change });

  /** One span for each second, as the last of them all. No other way is as quick. */
  async function writeMany(count: number, text: string, last: Span = spanAt(count, 'the last')): Promise<void> {
    await opened.store.log.append({ projectId: randomUUID(), spans: [spanAt(0, 'before')] });
    await opened.store.written();
    await new Promise((done) => setTimeout(done, count / 1000 + 100));
    const [row] = await opened.client.query<{ ver: string }>(sql`SELECT toString(max(ver)) AS ver FROM spans`);
    await opened.client.command(
      statementOf(`INSERT INTO spans (project_id, trace_id, id, name, started_at, ver, payload, input_bytes, no_output)
       SELECT '${project}', generateUUIDv4(1), generateUUIDv4(2), 'work', fromUnixTimestamp64Micro(${START} + number * 1000000, 'UTC'),
         ${row?.ver ?? 0} + 1 + number, ${text}, 100, 1 FROM numbers(${count})`),
    );
    await opened.store.log.append({ projectId: project, spans: [last] });
  }

  function wordRow(owner: string, second: number, word: string): string {
    const at = `fromUnixTimestamp64Micro(${startedAt(second)}, 'UTC')`;
    return `'${owner}', ${at}, ${at}, 1, 1, 1, '\\n${word}\\n', ''`;
  }

  async function rows(condition: string): Promise<number> {
    const [row] = await opened.client.query<{ count: string }>(
      statementOf(`SELECT toString(count()) AS count FROM span_words WHERE ${condition}`),
    );
    return Number(row?.count);
  }
  const held = (word: string) => rows(`project_id = '${project}' AND position(words, '${word}') > 0`);

  async function found(q: string): Promise<string[]> {
    const query = parseListQuery(spanList, new URLSearchParams(`q=${q}`));
    return (await rowsOf<{ id: string }>(await opened.store.lists.spans(project, query))).map(({ id }) => id);
  }

  async function running(start: string): Promise<void> {
    const statement = `SELECT 1 FROM system.processes WHERE startsWith(query, '${start}')`;
    while ((await opened.client.query(statementOf(statement))).length === 0);
  }

  it('go after the round of the index that is under way, however many are to come', async () => {
    await writeMany(200_000, "'plain talk'");
    const order: string[] = [];
    const indexed = opened.store.indexWords().then(() => order.push('index'));
    await running('INSERT INTO span_words');
    await opened.store.deletions.forgetWords(project, [placed(0)], patience());
    order.push('deletion');
    await indexed;
    expect(order).to.deep.equal(['deletion', 'index']);
  });

  it('of one project wait for one deletion of another, however many it has', async () => {
    const order: string[] = [];
    const forget = async (owner: string, name: string) => {
      await opened.store.deletions.forgetWords(owner, [placed(0)], patience());
      order.push(name);
    };
    const other = randomUUID();
    await Promise.all([...Array.from({ length: 8 }, () => forget(other, 'other')), forget(project, 'own')]);
    expect(order.indexOf('own')).to.be.at.most(2);
  });

  it('leave rows that are filled anew, and cost others nothing', async () => {
    const needle = spanAt(3, 'a hurdygurdy');
    await opened.store.log.append({ projectId: project, spans: [needle, spanAt(3, 'a theremin')] });
    await writeMany(2 * BATCH_SPANS, "'plain talk'");
    await opened.store.indexWords();
    expect(await held('hurdygurdy')).to.equal(1);
    const [all, spans] = [await rows('1'), await found('theremin')];
    // More than made the index of all be thrown away.
    const other = randomUUID();
    const seconds = Array.from({ length: 20 }, (_, second) => second);
    await opened.client.command(
      statementOf(
        `INSERT INTO span_words (${COLUMNS}) SELECT '${other}', fromUnixTimestamp64Micro(${START} + number * 1000000, 'UTC') AS at, at, 1, 1, 1, '\\nsecret\\n', '' FROM numbers(20)`,
      ),
    );
    await opened.store.deletions.forgetWords(other, seconds.map(placed), patience());
    expect(await rows("position(words, 'secret') > 0")).to.equal(0);
    expect(await held('hurdygurdy')).to.equal(1);

    await remove(opened.store, project, 'span', needle.id);
    await opened.store.deletions.forgetWords(project, [needle], patience());
    expect([await held('hurdygurdy'), await held('theremin')]).to.deep.equal([0, 0]);
    expect(await found('theremin')).to.deep.equal(spans);
    await opened.store.indexWords();
    expect([await held('hurdygurdy'), await held('theremin')]).to.deep.equal([0, 1]);
    expect(await rows('complete = 2')).to.equal(0);
    expect(await rows('1')).to.be.at.most(all);
    expect(await found('theremin')).to.deep.equal(spans);
  });

  it('leave no search that misses anything, where groups of several rounds are of the same time', async () => {
    const letters = [...'abcdefghijklmnopqrst'];
    const words = [...'xyz'].map((round) => letters.map((letter) => `needle${round}${letter}`));
    for (const round of words) {
      // Twenty needles for each round, one for each four hundred spans.
      const needle = `['${round.join("', '")}'][intDiv(number, 400) % 20 + 1]`;
      await writeMany(BATCH_SPANS, `if(number % 400 = 7, ${needle}, 'plain talk')`);
      await opened.store.indexWords();
    }
    const kept = words.flatMap((round) => round.slice(3));
    const expected = await Promise.all(kept.map(found));
    for (const word of [...(words[0] ?? []).slice(0, 3), ...(words[2] ?? []).slice(0, 3)])
      for (const id of await found(word)) {
        const below = await opened.store.deletions.below(project, 'span', id);
        for await (const things of below?.things ?? []) {
          await opened.store.deletions.writeTombstones(project, things, null);
          await opened.store.deletions.forgetWords(project, things, patience());
        }
      }
    const searches = async () => {
      for (const word of (words[2] ?? []).slice(0, 3)) expect(await held(word), word).to.equal(0);
      expect(await Promise.all(kept.map(found))).to.deep.equal(expected);
    };
    await searches();
    await opened.store.indexWords();
    expect(await rows(`project_id = '${project}' AND complete = 1`)).to.equal(3);
    await searches();
  });

  it('do not come back with an insert that has lost its client', async () => {
    const late = opened.client.command(
      statementOf(
        `INSERT INTO span_words (${COLUMNS}) SELECT ${wordRow(project, 0, 'hurdygurdy')} FROM numbers(5) WHERE sleepEachRow(0.3) = 0`,
      ),
    );
    await running('INSERT INTO span_words');
    await opened.store.deletions.forgetWords(project, [placed(0)], patience());
    await late;
    expect(await held('hurdygurdy')).to.equal(0);
  });

  it('go from a table that could not be emptied', async () => {
    await opened.client.command(
      statementOf(`INSERT INTO span_words (${COLUMNS}) SELECT ${wordRow(project, 0, 'hurdygurdy')}`),
    );
    const index = new WordIndex(
      watched(opened.client, (statement) => {
        if (statement.startsWith('TRUNCATE')) throw new Error('the engine died');
      }),
    );
    await index.load();
    const failure: unknown = await index.clear().catch((error: unknown) => error);
    expect(String(failure)).to.contain('the engine died');
    await index.forget(project, [{ from: startedAt(0), to: startedAt(0) }], patience());
    expect(await held('hurdygurdy')).to.equal(0);
  });

  it('of texts that were replaced go, too', async () => {
    const id = randomUUID();
    const trace_id = randomUUID();
    const first = spanAt(1, 'a hurdygurdy', { id, trace_id });
    await writeMany(BATCH_SPANS, "'plain talk'", first);
    await opened.store.indexWords();
    expect(await held('hurdygurdy')).to.equal(1);
    const again = spanAt(500_000, 'a theremin', { id, trace_id });
    await opened.store.log.append({ projectId: project, spans: [again] });
    await remove(opened.store, project, 'span', id);
    await opened.store.deletions.forgetWords(project, [again], patience());
    expect(await held('hurdygurdy')).to.equal(0);
  });

  it('are indexed in rounds that are bounded in bytes and time', async () => {
    // So that no rows emptied before are due, whose filling would index the spans below in this store.
    await opened.store.indexWords();
    await writeMany(9_000, "concat('plain talk ', toString(number), repeat('x', 10000))");
    const limits: unknown[] = [];
    const store = await reopenStore(
      watched(opened.client, (statement, options) => {
        if (statement.startsWith('INSERT INTO span_words')) limits.push(options?.settings?.max_execution_time);
      }),
    );
    await store.indexWords();
    await store.close();
    expect(limits).to.not.be.empty;
    for (const limit of limits) expect(limit).to.be.within(1, 30);
    const [row] = await opened.client.query<{ most: string }>(
      statementOf(`SELECT toString(max(spans)) AS most FROM span_words WHERE project_id = '${project}'`),
    );
    expect(Number(row?.most)).to.be.within(6_000, 7_000);
    expect(await found('plain talk 8999xx')).to.have.length(1);
  });

  describe('while ClickHouse does not rewrite the table', () => {
    beforeEach(() =>
      opened.client.command(
        statementOf(`INSERT INTO span_words (${COLUMNS}) SELECT ${wordRow(project, 0, 'hurdygurdy')}`),
      ),
    );
    afterEach(async () => {
      await opened.client.command(sql`KILL MUTATION WHERE table = 'span_words'`);
      await opened.client.command(sql`SYSTEM START MERGES span_words`);
    });

    it('are not waited for by a stop', async () => {
      await opened.client.command(sql`SYSTEM STOP MERGES span_words`);
      const stop = new AbortController();
      const forgotten = opened.store.deletions.forgetWords(project, [placed(0)], stop.signal);
      const queued = opened.store.deletions.forgetWords(randomUUID(), [placed(0)], stop.signal);
      const outcomes = Promise.allSettled([forgotten, queued]);
      const pending = "SELECT 1 FROM system.mutations WHERE table = 'span_words' AND NOT is_done";
      while ((await opened.client.query(statementOf(pending))).length === 0);
      const started = performance.now();
      stop.abort(new Error('the server stops'));
      for (const outcome of await outcomes)
        expect(String((outcome as PromiseRejectedResult).reason)).to.contain('the server stops');
      expect(performance.now() - started).to.be.lessThan(unhurried(3_000));
    });

    it('fail as unavailable while it fails to', async () => {
      await opened.client.command(
        sql`ALTER TABLE span_words UPDATE figures = toString(throwIf(spans > 0, 'no room')) WHERE 1`,
        { settings: { mutations_sync: '0', alter_sync: '0' } },
      );
      const failing = "SELECT 1 FROM system.mutations WHERE table = 'span_words' AND latest_fail_reason != ''";
      while ((await opened.client.query(statementOf(failing))).length === 0);
      const failure: unknown = await opened.store.deletions
        .forgetWords(project, [placed(0)], patience())
        .catch((error: unknown) => error);
      expect(failure).to.include({ kind: 'unavailable' });
      expect(failure).to.have.nested.property('cause.message').that.contains('no room');
      expect(await rows(`project_id = '${project}'`)).to.equal(1);
    });

    it('a migration says why it fails', async () => {
      const files = readMigrationFiles(schemaDirectory('clickhouse'));
      const sql = "ALTER TABLE span_words UPDATE figures = toString(throwIf(spans > 0, 'no room')) WHERE 1";
      const bad = { version: files.length + 1, name: 'bad', checksum: '', sql };
      const failure: unknown = await migrate(opened.client, [...files, bad], null).catch((error: unknown) => error);
      expect(String(failure)).to.match(/Migration \d+ \(bad\) failed: .*no room/s);
    });
  });
});
