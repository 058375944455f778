import { expect } from 'chai';
import fc from 'fast-check';
import { traceOutline } from '../../src/console/model/trace-outline.js';
import { shownFigure, sumsOf } from '../../src/console/model/trace-sums.js';
import { buildTraceTree } from '../../src/console/model/trace-tree.js';

const figures = fc.option(fc.nat(100));
/** Parents in any order, missing ones and circles included. */
const traces = fc.integer({ min: 1, max: 30 }).chain((size) =>
  fc.record({
    parent: fc.array(fc.integer({ min: -2, max: size }), { minLength: size, maxLength: size }),
    start: fc.array(fc.nat(20), { minLength: size, maxLength: size }),
    cost: fc.array(figures, { minLength: size, maxLength: size }),
    tokens: fc.array(figures, { minLength: size, maxLength: size }),
  }),
);

describe('sums of the spans below', () => {
  it('are of every span of a subtree once, and unknown where none of them is known', () => {
    fc.assert(
      fc.property(traces, ({ parent, start, cost, tokens }) => {
        const tree = buildTraceTree({ parent, start });
        const sums = sumsOf(tree, { cost, tokens: (span) => tokens[span] ?? null });
        for (const node of tree.span.keys())
          for (const [sum, own] of [
            [sums.cost[node], cost],
            [sums.tokens[node], tokens],
          ] as const) {
            const spans = [...tree.span.subarray(node, tree.end[node])];
            const known = spans.map((span) => own[span] ?? null).filter((figure) => figure !== null);
            expect(sum).to.deep.equal(known.length === 0 ? NaN : known.reduce((all, figure) => all + figure, 0));
          }
      }),
      { numRuns: 200 },
    );
  });

  it('stand in for a figure that a span has not, and beside one that it has', () => {
    expect(shownFigure(null, NaN)).to.deep.equal({ value: null, isSum: false, withBelow: null });
    expect(shownFigure(null, 5)).to.deep.equal({ value: 5, isSum: true, withBelow: null });
    expect(shownFigure(0, 0)).to.deep.equal({ value: 0, isSum: false, withBelow: null });
    expect(shownFigure(2, 5)).to.deep.equal({ value: 2, isSum: false, withBelow: 5 });
  });

  it('come to what the head of the trace says, of an answer of the server', () => {
    const none = { span: [], passed: [], failed: [], up: [], down: [], id: [] };
    const outline = traceOutline({
      trace_id: '',
      total: 4,
      start: '2026-01-01T00:00:00Z',
      // An agent with a call and a tool, below which is another call.
      spans: {
        id: ['a', 'b', 'c', 'd'],
        parent: [-1, 0, 0, 2],
        name: [0, 0, 0, 0],
        kind: [0, 1, 2, 1],
        status: [-1, -1, -1, -1],
        started_at: [0, 1, 2, 3],
        duration_ms: [9, 1, 5, 1],
        cost: [null, 0.5, null, 0.25],
      },
      names: ['span'],
      kinds: ['agent', 'llm', 'tool'],
      statuses: [],
      errors: [],
      models: ['m'],
      calls: { span: [1, 3], model: [0, 0], input_tokens: [10, 20], output_tokens: [1, null] },
      missing_parents: none,
      cycles: [],
      evaluations: none,
      feedback: none,
    });
    const sums = sumsOf(buildTraceTree(outline), outline);
    expect([...sums.cost]).to.deep.equal([0.75, 0.5, 0.25, 0.25]);
    expect([...sums.tokens]).to.deep.equal([31, 11, 20, 20]);
  });

  it('are of 50,000 spans in a few milliseconds', () => {
    const size = 50_000;
    const chain = buildTraceTree({
      parent: Int32Array.from({ length: size }, (_, span) => span - 1),
      start: new Float64Array(size),
    });
    const began = performance.now();
    const { cost } = sumsOf(chain, { cost: new Array<number>(size).fill(1), tokens: () => 1 });
    // It takes 4 ms, the first time 14; the bound is for machines that do much else meanwhile.
    expect(performance.now() - began).to.be.below(100);
    expect(cost[0]).to.equal(size);
  });
});
