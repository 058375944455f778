import { expect } from 'chai';
import fc from 'fast-check';
import { criticalPath, lastRoot } from '../../src/console/model/critical-path.js';
import { firstLookedAt } from '../../src/console/model/trace-marks.js';
import { afterTreeKey, rowInGrown, TraceRows } from '../../src/console/model/trace-rows.js';
import { buildTraceTree, ROOT, type TraceColumns } from '../../src/console/model/trace-tree.js';

const KEYS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageDown', 'PageUp'];

/** Traces as they come: parents that are missing (below 0 or beyond the end) and circles included. */
const traces: fc.Arbitrary<TraceColumns> = fc.integer({ min: 1, max: 30 }).chain((size) =>
  fc.record({
    id: fc.constant(Array.from({ length: size }, (_, span) => `s${span}`)),
    parent: fc.array(fc.integer({ min: -2, max: size }), { minLength: size, maxLength: size }),
    start: fc.array(fc.nat(20), { minLength: size, maxLength: size }),
    duration: fc.array(fc.option(fc.nat(20)), { minLength: size, maxLength: size }),
  }),
);

describe('the tree of a trace', () => {
  it('has every span once, below its parent, siblings by start; circles are opened where they start first', () => {
    fc.assert(
      fc.property(traces, ({ parent, start }) => {
        const tree = buildTraceTree({ parent, start });
        const nodes = [...tree.span.keys()];
        expect([...tree.span].sort((a, b) => a - b)).to.deep.equal(nodes);
        for (const node of nodes) {
          const span = tree.span[node]!;
          const above = tree.parent[node]!;
          expect(tree.nodeOf[span]).to.equal(node);
          const siblings = nodes.filter((other) => tree.parent[other] === above);
          expect([tree.siblings[node], tree.position[node]]).to.deep.equal([
            siblings.length,
            siblings.indexOf(node) + 1,
          ]);
          const starts = siblings.map((sibling) => start[tree.span[sibling]!]!);
          expect(starts).to.deep.equal(starts.toSorted((a, b) => a - b));
          if (above === -1) {
            const sent = parent[span]!;
            const missing = sent < -1 || sent >= parent.length;
            expect(tree.root[node]).to.equal(sent === -1 ? ROOT.root : missing ? ROOT.missingParent : ROOT.cycle);
          } else {
            expect(tree.span[above]).to.equal(parent[span]);
            expect([tree.depth[node], tree.root[node]]).to.deep.equal([tree.depth[above]! + 1, ROOT.child]);
            expect(above < node && tree.end[node]! <= tree.end[above]!).to.equal(true);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('shows after every key the nodes whose ancestors are open, the active one among them', () => {
    fc.assert(
      fc.property(traces, fc.array(fc.constantFrom(...KEYS), { maxLength: 30 }), (columns, keys) => {
        const tree = buildTraceTree(columns);
        let place = { rows: TraceRows.expanded(tree), active: 0 };
        for (const key of keys) {
          place = afterTreeKey(place, key, 5) ?? place;
          const { rows } = place;
          const isShown = (node: number): boolean => {
            const above = tree.parent[node]!;
            return above === -1 || (rows.isExpanded(above) && isShown(above));
          };
          expect([...rows.nodes]).to.deep.equal([...tree.span.keys()].filter(isShown));
          expect(rows.rowOf(place.active)).to.be.at.least(0);
        }
        const same = place.rows.regrown(columns.id, tree, columns.id);
        expect([...same.nodes]).to.deep.equal([...place.rows.nodes]);
        const last = same.count - 1;
        expect(rowInGrown({ rows: place.rows, ids: columns.id }, { rows: same, ids: columns.id }, last)).to.equal(last);
        for (const node of tree.span.keys()) expect(same.revealing(node).rowOf(node)).to.be.at.least(0);
      }),
      { numRuns: 200 },
    );
  });

  it('follows the critical path without a gap, from the end of the last root to its start', () => {
    fc.assert(
      fc.property(traces, (columns) => {
        const tree = buildTraceTree(columns);
        const root = lastRoot(tree, columns);
        const span = tree.span[root]!;
        let time = Math.max(
          columns.start[span]!,
          columns.start[span]! + (columns.duration[span] ?? 50 - columns.start[span]!),
        );
        for (const { node, from, to } of criticalPath(tree, columns, root, 50)) {
          expect(to).to.equal(time);
          expect(node >= root && node < tree.end[root]!).to.equal(true);
          time = from;
        }
        expect(time).to.equal(columns.start[span]);
      }),
      { numRuns: 500 },
    );
  });

  it('is first looked at where the first failure began, else at its root', () => {
    fc.assert(
      fc.property(traces, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), (columns, failed) => {
        const tree = buildTraceTree(columns);
        const nodes = [...tree.span.keys()];
        const hasFailed = (node: number) => failed[tree.span[node]!] === true;
        const causes = nodes.filter(
          (node) => hasFailed(node) && !nodes.slice(node + 1, tree.end[node]).some(hasFailed),
        );
        const roots = nodes.filter((node) => tree.root[node] === ROOT.root);
        expect(firstLookedAt(tree, (span) => failed[span] === true)).to.equal(causes[0] ?? roots[0] ?? 0);
      }),
      { numRuns: 200 },
    );
    expect(firstLookedAt(buildTraceTree({ parent: [], start: [] }), () => true)).to.equal(null);
  });

  it('is built of chains and circles of 50,000 spans', () => {
    const size = 50_000;
    const start = new Float64Array(size);
    const chain = buildTraceTree({ parent: Int32Array.from({ length: size }, (_, span) => span - 1), start });
    expect(chain.depth[size - 1]).to.equal(size - 1);
    const circle = buildTraceTree({ parent: Int32Array.from({ length: size }, (_, span) => (span + 1) % size), start });
    expect(circle.root[0]).to.equal(ROOT.cycle);
    expect(TraceRows.expanded(buildTraceTree({ parent: [], start: [] })).count).to.equal(0);
  });
});
