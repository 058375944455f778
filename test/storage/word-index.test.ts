import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { sessionList, spanList, traceList } from '../../src/domain/list/definitions.js';
import { parseListQuery } from '../../src/domain/list/query.js';
import type { Page } from '../../src/domain/list/lists.js';
import type { Span } from '../../src/domain/span/span.js';
import { WordIndex } from '../../src/storage/clickhouse/search/word-index.js';
import { openStore, reopenStore, type OpenedStore } from './trace-store-harness.js';

const PROJECT = randomUUID();
const START = Date.UTC(2026, 0, 31, 12) * 1000;
const TOGETHER = 8192;
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
    return {
      id: randomUUID(),
      trace_id: randomUUID(),
      parent_span_id: null,
      session_id: randomUUID(),
      session_name: null,
      name: 'work',
      kind: 'generic',
      status: 'ok',
      started_at: START + written * 1000,
      ended_at: null,
      duration_ms: null,
      cost: null,
      input_data: input,
      output_data: 'done',
      attributes: {},
      tags: {},
      trace_tags: {},
      session_tags: {},
      error_code: null,
      error_message: null,
      error_stack: null,
      code_filepath: null,
      code_lineno: null,
      ...change,
    };
  }

  async function write(spans: Span[], projectId = PROJECT): Promise<void> {
    for (let from = 0; from < spans.length; from += 4096)
      await opened.store.log.append({ projectId, spans: spans.slice(from, from + 4096) });
  }

  const filler = (count: number) => Array.from({ length: count }, (_, index) => span(`plain talk ${index % 50}`));

  async function ids(list: keyof typeof lists, q: string, more = ''): Promise<string[]> {
    const query = parseListQuery(lists[list], new URLSearchParams(`q=${encodeURIComponent(q)}&limit=500${more}`));
    const { json }: Page = await opened.store.lists[list](PROJECT, query);
    const body = json instanceof Readable ? await text(json) : json.toString();
    return (JSON.parse(body) as { id: string }[]).map(({ id }) => id);
  }

  async function candidates(q: string): Promise<{ ranges: number; spans: number } | null> {
    const index = new WordIndex(opened.client);
    await index.load();
    const found = await index.candidates(PROJECT, q, {});
    return found && { ranges: found.ranges.length, spans: found.spans };
  }

  it('looks only where the words of the text occur, and finds what it found before', async () => {
    const needle = span('The Xylophone-Quartet of order INV-2031x7 plays');
    await write([...filler(TOGETHER), needle, ...filler(TOGETHER)]);
    const texts = ['xylophone-quartet', 'phone-quart', 'INV-2031x7', '031x', 'ophone', 'Xylophone quartet', 'plain talk 7'];
    const before = await Promise.all(texts.map((q) => ids('spans', q)));
    expect(before.map((found) => found.length > 0)).to.deep.equal([true, true, true, true, true, false, true]);
    await opened.store.indexWords();
    expect(await Promise.all(texts.map((q) => ids('spans', q)))).to.deep.equal(before);
    expect(await ids('spans', 'ophone')).to.deep.equal([needle.id]);
    expect(await ids('traces', 'ophone')).to.deep.equal([needle.trace_id]);
    expect(await ids('sessions', 'ophone')).to.deep.equal([needle.session_id]);
    for (const q of ['xylophone-quartet', 'phone-quart', 'INV-2031x7', '031x'])
      expect((await candidates(q))?.spans, q).to.be.within(1, TOGETHER + 1);
    for (const q of ['tetrachord', 'xylophone quarte t', 'hone-lacks', 'x9y', 'lain-talk'])
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
    await write(filler(TOGETHER));
    await opened.store.indexWords();
    expect(await ids('spans', 'oboe')).to.deep.equal([]);
    expect(await ids('spans', 'clarinet')).to.deep.equal([earlier.id]);
    expect(await ids('spans', 'bassoon')).to.deep.equal([late.id]);
    await opened.store.deletions.span(PROJECT, earlier.id);
    expect(await ids('spans', 'clarinet')).to.deep.equal([]);
  });

  it('goes on where it was after a restart', async () => {
    const rows = async () => (await opened.client.query('SELECT 1 FROM span_words')).length;
    const before = await rows();
    const again = await reopenStore(opened.client);
    await again.indexWords();
    await again.close();
    expect(await rows()).to.equal(before);
  });

  it('keeps no words where they take too much space, and finds them all the same', async () => {
    const hashes = Array.from({ length: TOGETHER }, () => span(`${randomUUID()} ${randomUUID()}`));
    await write(hashes);
    await opened.store.indexWords();
    const some = hashes[4000];
    expect(await ids('spans', some?.input_data ?? '')).to.deep.equal([some?.id]);
    const [row] = await opened.client.query<{ bytes: string }>(
      'SELECT toString(sum(length(words) + length(figures))) AS bytes FROM span_words WHERE NOT complete',
    );
    expect(row?.bytes).to.equal('0');
  });

  it('never skips a span that holds the text', async () => {
    const piece = fc.constantFrom('a', 'B', '7', '42', ' ', '-', '\n', 'é', 'É', 'я', 'Я', '漢', '😀', '"', '\\', '%', '_', "'");
    const someText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    const project = randomUUID();
    await opened.client.command(
      `INSERT INTO span_words (project_id, spans, indexed_to, complete) VALUES ('${project}', 0, 0, 0)`,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(someText, { minLength: 1, maxLength: 5 }), fc.nat(), fc.nat(), async (texts, at, to) => {
        const from = texts[0] ?? '';
        const characters = [...from];
        const needle = characters.slice(at % (characters.length + 1), to % (characters.length + 1)).join('');
        if (needle.trim() === '') return;
        const { found, held } = await wordsSay(texts, needle);
        expect(!held || found, JSON.stringify({ texts, needle })).to.equal(true);
      }),
      { numRuns: 150 },
    );
  });
});
