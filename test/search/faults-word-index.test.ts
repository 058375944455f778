import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { FIGURES, TOKENS, wordConditions, WORDS } from '../../src/engine/traces/search/searched-words.js';
import { occursIn } from '../../src/engine/traces/search/text-match.js';
import { WordIndex } from '../../src/engine/traces/search/word-index.js';
import { join, sql, value } from '../../src/engine/traces/clickhouse/client/sql.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, remove, reopenStore, rowsOf } from '../harness/trace-store.js';
import { statementOf } from '../harness/statement.js';

const PROJECT = randomUUID();
const START = Date.UTC(2026, 0, 31, 12) * 1000;
const BATCH_SPANS = 8192;
const lists = { spans: spanList, traces: traceList, sessions: sessionList };

describe('search by text in many spans', () => {
  let opened: OpenedStore;
  let written = 0;

  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  function span(input: string, change: Partial<Span> = {}): Span {
    written += 1;
    return storedSpan({
      session_id: randomUUID(),
      started_at: START + written * 1000,
      input_data: input,
      output_data: 'done',
      ...change,
    });
  }

  async function write(spans: Span[]): Promise<void> {
    for (let from = 0; from < spans.length; from += 4096)
      await opened.store.log.append({ projectId: PROJECT, spans: spans.slice(from, from + 4096) });
  }

  const filler = (count: number) => Array.from({ length: count }, (_, index) => span(`plain talk ${index % 50}`));

  async function ids(list: keyof typeof lists, q: string, more = '&limit=500', project = PROJECT): Promise<string[]> {
    const query = parseListQuery(lists[list], new URLSearchParams(`q=${encodeURIComponent(q)}${more}`));
    const rows = await rowsOf<{ id: string }>(await opened.store.lists[list](project, query));
    return rows.map(({ id }) => id);
  }

  async function eachPage(pages: readonly string[]): Promise<string[][]> {
    const found: string[][] = [];
    for (const list of ['traces', 'sessions'] as const)
      for (const q of ['plain talk 7', 'Xylophone', 'nowhere'])
        for (const page of pages) found.push(await ids(list, q, page));
    return found;
  }

  /** All at once: what is indexed in the background while spans are written may leave the last of them for later. */
  async function indexAnew(): Promise<void> {
    await opened.client.command(sql`TRUNCATE TABLE span_words`);
    const again = await reopenStore(opened.client);
    await again.indexWords();
    await again.close();
  }

  async function candidates(q: string): Promise<{ ranges: number; spans: number } | null> {
    const index = new WordIndex(opened.client);
    await index.load();
    const found = await index.candidates(PROJECT, q, (statement) => {
      const { text, params } = statement.render();
      return opened.client.query(statementOf(text, params));
    });
    return found && { ranges: found.ranges.length, spans: found.spans };
  }

  it('looks only where the words of the text occur, and finds what it found before', async () => {
    const needle = span('The Xylophone-Quartet of order INV-2031x7 plays');
    const failed = span('plain talk', { error_code: 'Kazoo2', error_message: 'The vuvuzela is out of tune' });
    await write([...filler(BATCH_SPANS), needle, failed, ...filler(BATCH_SPANS)]);
    const texts = [
      'xylophone-quartet',
      'phone-quart',
      'INV-2031x7',
      '031x',
      'ophone',
      'Xylophone quartet',
      'plain talk 7',
      'VUVUZELA is',
      'kazoo2',
    ];
    const before = await Promise.all(texts.map((q) => ids('spans', q)));
    // Without an index the first rows of a list are looked at first, then more of them; with it, at once at all that may hold the text.
    const pages = ['', '&sort_order=asc', '&limit=7&offset=300', '&sort_by=name', '&sort_by=cost&limit=3&offset=5'];
    const rollupsBefore = await eachPage(pages);
    expect(rollupsBefore.map((page) => page.length)).to.include.members([50, 7, 3, 1]);
    expect(before.map((found) => found.length > 0)).to.deep.equal([
      true,
      true,
      true,
      true,
      true,
      false,
      true,
      true,
      true,
    ]);
    await opened.store.indexWords();
    await indexAnew();
    expect(await Promise.all(texts.map((q) => ids('spans', q)))).to.deep.equal(before);
    expect(await eachPage(pages)).to.deep.equal(rollupsBefore);
    expect(await ids('spans', 'ophone')).to.deep.equal([needle.id]);
    expect(await ids('traces', 'ophone')).to.deep.equal([needle.trace_id]);
    expect(await ids('sessions', 'ophone')).to.deep.equal([needle.session_id]);
    expect(await ids('spans', 'out of tune')).to.deep.equal([failed.id]);
    expect(await ids('spans', 'Kazoo2')).to.deep.equal([failed.id]);
    for (const q of ['xylophone-quartet', 'phone-quart', 'INV-2031x7', '031x', 'vuvuzela', 'Kazoo2'])
      expect((await candidates(q))?.spans, q).to.be.within(1, BATCH_SPANS + 1);
    for (const q of ['tetrachord', 'xylophone quarte t', 'hone-lacks', 'x9y', 'lain-walk'])
      expect(await candidates(q), q).to.deep.equal({ ranges: 0, spans: 0 });
    for (const q of ['-', '7', '{"']) expect(await candidates(q), q).to.equal(null);
  });

  it('finds what came after the index, and what replaced what was in it', async () => {
    const late = span('a bassoon', { started_at: START - 3600e6 });
    const earlier = span('an oboe');
    await write([late, earlier]);
    expect(await ids('spans', 'bassoon')).to.deep.equal([late.id]);
    await write([{ ...earlier, input_data: 'a clarinet' }]);
    expect(await ids('spans', 'oboe')).to.deep.equal([]);
    expect(await ids('spans', 'clarinet')).to.deep.equal([earlier.id]);
    await write(filler(BATCH_SPANS));
    await opened.store.indexWords();
    expect(await ids('spans', 'oboe')).to.deep.equal([]);
    expect(await ids('spans', 'clarinet')).to.deep.equal([earlier.id]);
    expect(await ids('spans', 'bassoon')).to.deep.equal([late.id]);
    await remove(opened.store, PROJECT, 'span', earlier.id);
    expect(await ids('spans', 'clarinet')).to.deep.equal([]);
  });

  it('holds no words of what was deleted, indexed before or after, and finds all the rest', async () => {
    const [early, kept, late] = [span('a hurdygurdy'), span('a theremin'), span('a glockenspiel')];
    await write([early, kept, ...filler(BATCH_SPANS)]);
    await opened.store.indexWords();
    const held = async (word: string) => {
      const rows = await opened.client.query(
        statementOf(`SELECT 1 FROM span_words WHERE position(words, '${word}') > 0`),
      );
      return rows.length > 0;
    };
    expect(await held('hurdygurdy')).to.equal(true);
    await remove(opened.store, PROJECT, 'span', early.id);
    await opened.store.deletions.forgetWords(PROJECT, [early], AbortSignal.timeout(60_000));
    expect(await held('hurdygurdy')).to.equal(false);
    expect(await ids('spans', 'hurdygurdy')).to.deep.equal([]);
    expect(await ids('spans', 'theremin')).to.deep.equal([kept.id]);
    await write([late]);
    await remove(opened.store, PROJECT, 'span', late.id);
    await write(filler(BATCH_SPANS));
    await opened.store.indexWords();
    expect(await held('glockenspiel')).to.equal(false);
    expect(await ids('spans', 'theremin')).to.deep.equal([kept.id]);
  });

  it('goes on where it was after a restart', async () => {
    const rows = async () => (await opened.client.query(sql`SELECT 1 FROM span_words`)).length;
    const before = await rows();
    const again = await reopenStore(opened.client);
    await again.indexWords();
    await again.close();
    expect(await rows()).to.equal(before);
  });

  it('reads the newest or oldest spans only, when they fill the page', async () => {
    const project = randomUUID();
    await new Promise((done) => setTimeout(done, 500));
    const [row] = await opened.client.query<{ ver: number }>(sql`SELECT max(ver) AS ver FROM spans`);
    const first = Number(row?.ver) + 1;
    // As many as begin to be worth it, and no other way to write them within a second.
    await opened.client.command(
      statementOf(`INSERT INTO spans (project_id, trace_id, id, name, started_at, ver, payload, input_bytes, no_output)
       SELECT '${project}', generateUUIDv4(1), generateUUIDv4(2), 'work', fromUnixTimestamp64Micro(${START} + intDiv(number, 3) * 1000, 'UTC'),
         ${first} + number, if(number % 500 = 7, 'a rare trombone', 'plain talk'), 100, 1 FROM numbers(200000)`),
    );
    await opened.store.log.append({ projectId: project, spans: [span('a trombone', { started_at: START + 50e6 })] });
    const pages = [
      '',
      '&limit=50',
      '&offset=100&limit=50',
      '&offset=380&limit=30',
      '&sort_order=asc&limit=20',
      '&sort_by=name&limit=5',
    ];
    const found = () => Promise.all(pages.map((page) => ids('spans', 'trombone', page, project)));
    const before = await found();
    expect(before.map((page) => page.length)).to.deep.equal([401, 50, 50, 21, 20, 5]);
    await opened.store.indexWords();
    expect(await found()).to.deep.equal(before);
  });

  it('keeps no words where they take too much space, and finds them all the same', async () => {
    const hashes = Array.from({ length: BATCH_SPANS }, () => span(`${randomUUID()} ${randomUUID()}`));
    await write(hashes);
    await opened.store.indexWords();
    const some = hashes[4000];
    expect(await ids('spans', some?.input_data ?? '')).to.deep.equal([some?.id]);
    const [row] = await opened.client.query<{ bytes: string }>(
      sql`SELECT toString(sum(length(words) + length(figures))) AS bytes FROM span_words WHERE NOT complete`,
    );
    expect(row?.bytes).to.equal('0');
  });

  it('never skips a span that holds the text', async () => {
    const piece = fc.constantFrom(...'aB7042 -\n.éÉяЯΣσςİſß漢😀"\\%_\'');
    const someText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    let held = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(someText, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.nat(),
        async (texts, at, to) => {
          const characters = [...(texts[0] ?? '')];
          const needle = characters.slice(at % (characters.length + 1), to % (characters.length + 1)).join('');
          const conditions = wordConditions(needle);
          if (conditions.length === 0) return;
          const met = join([sql`1`, ...conditions], ' AND ');
          const [answer] = await opened.client.query<{ skipped: number; held: number }>(
            sql`SELECT NOT (${met}) AS skipped, held FROM (SELECT ${WORDS} AS words, ${FIGURES} AS figures, held FROM (
             SELECT ${TOKENS} AS tokens, max(${occursIn(sql`texts`, needle)}) AS held
             FROM (SELECT arrayJoin(${value(texts, 'Array(String)')}) AS texts)))`,
          );
          if (answer?.held) held += 1;
          expect(answer?.held === 1 && answer.skipped === 1, JSON.stringify({ texts, needle })).to.equal(false);
        },
      ),
      { numRuns: 300 },
    );
    expect(held).to.be.greaterThan(30);
  });
});
