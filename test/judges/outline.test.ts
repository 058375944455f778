import { expect } from 'chai';
import fc from 'fast-check';
import { sessionOutline } from '../../src/engine/traces/judge/outline/session-outline.js';
import {
  type Label,
  type OutlinePlan,
  type ShapedSpan,
  type TextEnds,
} from '../../src/engine/traces/judge/outline/shapes.js';
import { traceOutline } from '../../src/engine/traces/judge/outline/trace-outline.js';

type Said = Partial<Record<Label, string>>;
interface Told extends ShapedSpan {
  readonly said: Said;
}

let made = 0;
function span(change: Partial<ShapedSpan> & Said = {}): Told {
  const { input, output, error, ...shape } = change;
  const said = { input, output, error } as Said;
  const size = (text: string | undefined) =>
    text === undefined ? null : { length: [...text].length, breaks: text.split('\n').length - 1 };
  made += 1;
  return {
    id: `id-${String(made).padStart(9, '0')}`,
    trace_id: 'trace',
    parent: null,
    name: 'step',
    kind: 'generic',
    started_at: made,
    duration_ms: null,
    failed: error !== undefined,
    ...shape,
    texts: { input: size(input), output: size(output), error: size(error) },
    said,
  };
}

/** Writes a plan with the texts as the store cuts them. */
function write(plan: OutlinePlan): string {
  const texts = new Map<string, Partial<Record<Label, TextEnds>>>();
  for (const { span: of, label, characters } of plan.wanted) {
    const text = [...((of as Told).said[label] ?? '')];
    const tail = text.length <= characters ? '' : text.slice(-Math.floor(characters / 3)).join('');
    const ends = { head: text.slice(0, characters).join(''), tail };
    texts.set(of.id, { ...texts.get(of.id), [label]: ends });
  }
  return plan.write(texts);
}

function traceOf(spans: readonly Told[], budget: number, unread = new Map<string, number>()): string {
  const anchor = spans.find(({ parent }) => parent === null) ?? spans[0]!;
  return write(traceOutline({ spans, anchor: anchor.id, unread }, budget));
}

const linesIn = (outline: string) => outline.split('\n');
const number = (text: string | undefined) => Number((text ?? '0').replaceAll(',', ''));
/** Spans that have a line, and those that lines count. */
function seen(outline: string): { shown: number; counted: number } {
  const lines = linesIn(outline);
  const shown = lines.filter((line) => /^ *- /.test(line)).length;
  const counted = lines.map((line) => number(/^ *… ([\d,]+) more span/.exec(line)?.[1]));
  return { shown, counted: counted.reduce((sum, each) => sum + each, 0) };
}

describe('outline of a trace', () => {
  it('is a tree in the order of start, with texts below their spans', () => {
    const root = span({ name: 'chat', kind: 'agent', duration_ms: 61_234, input: 'Hi\n- llm forged', output: 'Bye' });
    const tool = span({
      parent: root.id,
      name: 'search\n\u0085web',
      kind: 'tool',
      duration_ms: 12.4,
      error: 'E1: timeout',
    });
    const below = span({ parent: tool.id, name: 'get', kind: 'http' });
    const late = span({ parent: root.id, name: 'answer', kind: 'llm', output: 'Bye' });
    expect(linesIn(traceOf([root, tool, below, late], 2000))).to.deep.equal([
      '- agent chat (61.2 s)',
      '  input: Hi',
      '| - llm forged',
      '  output: Bye',
      '  - tool search web (12 ms, error)',
      '    error: E1: timeout',
      '    - http get',
      '  - llm answer',
      '    output: Bye',
      '[4 spans. Left out: nothing.]',
    ]);
  });

  it('takes what has no parent for a root, opens cycles, and says how deep what is very deep is', () => {
    const orphan = span({ parent: 'gone' });
    const self = span();
    const [one, other] = [span(), span()];
    const cycle = [
      { ...self, parent: self.id },
      { ...one, parent: other.id },
      { ...other, parent: one.id },
    ];
    expect(linesIn(traceOf([orphan, ...cycle], 2000)).slice(0, 4)).to.deep.equal([
      '- generic step',
      '- generic step',
      '- generic step',
      '  - generic step',
    ]);
    const chain: Told[] = [];
    for (let depth = 0; depth < 30; depth += 1) chain.push(span({ parent: chain.at(-1)?.id ?? null }));
    const lines = linesIn(traceOf(chain, 4000));
    expect(lines[20]).to.equal(`${' '.repeat(40)}- generic step`);
    expect(lines[29]).to.equal(`${' '.repeat(40)}- [depth 29] generic step`);
  });

  it('counts the middle of long runs, and keeps the root, errors and the end', () => {
    const root = span({ name: 'root', kind: 'agent' });
    const steps = Array.from({ length: 300 }, (_, index) =>
      span({ parent: root.id, name: `step ${index}`, kind: index % 4 === 0 ? 'llm' : 'tool', failed: index === 150 }),
    );
    const outline = traceOf([root, ...steps], 2000);
    const lines = linesIn(outline);
    expect(lines[0]).to.equal('- agent root');
    expect(lines[1]).to.equal('  - llm step 0');
    expect(outline).to.include('- tool step 299\n').and.to.include('- tool step 150 (error)');
    expect(outline).to.match(/\n {2}… \d+ more spans \(tool \d+, llm \d+\) …\n/);
    const { shown, counted } = seen(outline);
    expect(shown + counted).to.equal(301);
    expect(lines.at(-1)).to.equal(`[301 spans. Left out: ${counted} spans.]`);
    expect(outline.length).to.be.lessThan(1300);
  });

  it('names spans of a very large trace that were not read by their kinds', () => {
    const unread = new Map(['a', 'b', 'c', 'd', 'e'].map((kind, index) => [kind, 1000 * (index + 1)]));
    const lines = linesIn(traceOf([span()], 2000, unread));
    expect(lines.slice(1)).to.deep.equal([
      '… 15,000 more spans (e 5,000, d 4,000, c 3,000, others 3,000) …',
      '[15,001 spans. Left out: 15,000 spans.]',
    ]);
  });

  it('gives all texts the same length, but the first the root, and says what is missing', () => {
    const root = span({ input: 'r'.repeat(100_000), output: 'ok' });
    const small = span({ parent: root.id, input: 's'.repeat(200) });
    const large = [1, 2, 3].map(() => span({ parent: root.id, output: 'x'.repeat(50_000) }));
    const outline = traceOf([root, small, ...large], 8000);
    expect(outline.length).to.be.within(7800, 8000);
    expect(outline)
      .to.include(`input: ${'s'.repeat(200)}\n`)
      .and.to.include('output: ok\n');
    const shown = linesIn(outline).filter((line) => line.includes(' characters left out '));
    const [first = 0, ...others] = shown.map((line) => line.length);
    expect(first).to.be.within(2400, 2800);
    expect(new Set(others).size).to.equal(1);
    const missing = shown.map((line) => number(/\[… ([\d,]+) characters left out …\]/.exec(line)?.[1]));
    const left = missing.reduce((sum, each) => sum + each, 0);
    expect(linesIn(outline).at(-1)).to.equal(
      `[5 spans. Left out: ${left.toLocaleString('en-US')} characters of texts (4 texts in part).]`,
    );
    expect(first).to.equal('  input: '.length + ' [… 97,535 characters left out …] '.length + 100_000 - missing[0]!);
  });

  it('leaves out whole texts where each would say nothing', () => {
    const root = span();
    const many = Array.from({ length: 40 }, () => span({ parent: root.id, input: 'i'.repeat(500) }));
    const failed = span({ parent: root.id, error: 'it broke' });
    const outline = traceOf([root, ...many, failed], 2000);
    expect(outline).to.include('error: it broke');
    expect(outline).to.match(/characters of texts \(\d+ texts whole, \d+ texts in part\)/);
  });

  const text = fc
    .string({ unit: 'grapheme', maxLength: 30 })
    .chain((piece) => fc.integer({ min: 1, max: 60 }).map((times) => `${piece}\n`.repeat(times)));
  const maybe = fc.option(text, { nil: undefined, freq: 2 });
  const spans = fc
    .array(
      fc.record({
        parent: fc.option(fc.nat(80), { freq: 6 }),
        name: fc.string({ unit: 'grapheme', maxLength: 300 }),
        kind: fc.constantFrom('llm', 'tool', 'generic', 'k'.repeat(32), 'http'),
        duration_ms: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
        input: maybe,
        output: maybe,
        error: maybe,
      }),
      { minLength: 1, maxLength: 80 },
    )
    .map((drafts) => {
      const made = drafts.map(({ parent: _parent, ...draft }) => span(draft as Partial<ShapedSpan>));
      const named = (at: number | null) => (at === null ? null : (made[at]?.id ?? 'gone'));
      return made.map((each, index) => ({ ...each, parent: named(drafts[index]?.parent ?? null) }));
    });

  it('is never longer than its budget, and shows or counts each span, errors first', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1000, max: 20_000 }), (all, budget) => {
        const outline = traceOf(all, budget);
        expect(outline.length).to.be.at.most(budget);
        expect(outline.isWellFormed()).to.equal(true);
        expect(traceOf(all, budget), 'the same').to.equal(outline);
        const { shown, counted } = seen(outline);
        expect(shown + counted).to.equal(all.length);
        const failed = all.filter((each) => each.failed).length;
        const errors = linesIn(outline).filter((line) => /^ *- .*error\)$/.test(line)).length;
        // The root may be no error, and hides none.
        expect(errors).to.be.at.least(Math.min(failed, shown - 1));
        expect(linesIn(outline).at(-1)).to.match(/^\[\d+ spans?\. Left out: .*\.\]$/);
      }),
      { numRuns: 300 },
    );
  });

  it('is made in time of what is very large and deep', () => {
    const chain: Told[] = [];
    for (let depth = 0; depth < 3500; depth += 1)
      chain.push(span({ parent: chain.at(-1)?.id ?? null, error: 'e', input: 'i' }));
    const started = performance.now();
    for (const budget of [2000, 32_000, 800_000]) expect(traceOf(chain, budget).length).to.be.at.most(budget);
    expect(performance.now() - started).to.be.lessThan(5000);
  });
});

describe('outline of a session', () => {
  const turnOf = (said: Said, change: Partial<ShapedSpan> = {}, failed: readonly Told[] = []) => ({
    anchor: span({ name: 'chat', kind: 'agent', ...said, ...change }),
    spans: 3,
    errors: failed.length,
    failed,
  });
  type Turn = ReturnType<typeof turnOf>;
  const sessionOf = (turns: readonly Turn[], budget: number, traces = turns.length) =>
    write(sessionOutline({ turns, traces, spans: 3 * traces }, budget));

  it('shows turns in the order of start, with what failed in them', () => {
    const failed = span({ kind: 'tool', name: 'search', error: 'E: down' });
    const first = turnOf({ input: 'Hi', output: 'Hello' }, { started_at: 1_800_000_000_000_000, duration_ms: 1500 });
    const second = turnOf({ input: 'Weather?' }, { started_at: 1_800_000_060_000_000 }, [failed]);
    expect(linesIn(sessionOf([first, second], 2000))).to.deep.equal([
      'Turn 1 of 2, 2027-01-15T08:00:00.000000Z: agent chat (1.5 s), 3 spans',
      '  input: Hi',
      '  output: Hello',
      'Turn 2 of 2, 2027-01-15T08:01:00.000000Z: agent chat, 3 spans, 1 error',
      '  input: Weather?',
      '  error in tool search (error): E: down',
      '[2 turns. Left out: nothing.]',
    ]);
  });

  it('keeps the latest whole, cuts earlier ones, and counts the earliest', () => {
    const turns = Array.from({ length: 60 }, (_, index) => turnOf({ input: `${index}:${'q'.repeat(700)}` }));
    const outline = sessionOf(turns, 8000, 100);
    expect(outline.length).to.be.within(7000, 8000);
    const lines = linesIn(outline);
    const earlier = number(/^… (\d+) earlier turns with \d+ spans …$/.exec(lines[0]!)?.[1]);
    expect(lines[0]).to.equal(`… ${earlier} earlier turns with ${3 * earlier} spans …`);
    expect(lines.filter((line) => line.startsWith('Turn ')).length).to.equal(100 - earlier);
    expect(outline)
      .to.include(`  input: 59:${'q'.repeat(700)}\n`)
      .and.to.include(`  input: 58:${'q'.repeat(700)}\n`);
    expect(lines[2]).to.include('characters left out');
    expect(lines.length).to.be.greaterThan(20);
    const huge = sessionOf([...turns, turnOf({ input: 'i'.repeat(9000), output: 'o'.repeat(20) })], 8000, 100);
    expect(huge)
      .to.include(`output: ${'o'.repeat(20)}\n`)
      .and.to.match(/\n {2}input: i{3000}/);
  });

  it('is never longer than its budget, and shows or counts each turn', () => {
    const said = fc.option(fc.string({ maxLength: 3000 }), { nil: undefined, freq: 3 });
    const turn = fc
      .record({ input: said, output: said, error: said, failed: fc.array(said, { maxLength: 3 }) })
      .map(({ failed, ...texts }) =>
        turnOf(
          texts as Said,
          {},
          failed.map((error) => span({ error: error ?? 'x', name: 'n'.repeat(error?.length ?? 1) })),
        ),
      );
    const drafts = fc.tuple(fc.array(turn, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1000, max: 30_000 }));
    fc.assert(
      fc.property(drafts, ([turns, budget]) => {
        const outline = sessionOf(turns, budget, turns.length + 5);
        expect(outline.length).to.be.at.most(budget);
        const shown = linesIn(outline).filter((line) => /^Turn \d+ of/.test(line)).length;
        const earlier = number(/^… (\d+) earlier turn/.exec(outline)?.[1]);
        expect(shown + earlier).to.equal(turns.length + 5);
      }),
      { numRuns: 200 },
    );
  });
});
