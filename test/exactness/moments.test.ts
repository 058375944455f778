import { expect } from 'chai';
import { Model, type Moment, type Write } from './model.js';
import { contradiction, type Exchange, type Reading, type Writing } from './moments.js';
import type { SentSpan, SentTrace } from './sent.js';
import type { Read } from './stored-span.js';
import { iso, decimal } from './units.js';
import { tracesByCost, where, whole, type View } from './views.js';

const TRACES = ['0199a1b2-0000-7000-8000-0000000000a1', '0199a1b2-0000-7000-8000-0000000000a2'] as const;
const SESSIONS = ['0199a1b2-0000-7000-8000-0000000000b1', '0199a1b2-0000-7000-8000-0000000000b2'] as const;
const VIEWS = [
  whole('spans'),
  whole('traces'),
  whole('sessions'),
  tracesByCost,
  where('traces', 'has_error', true),
  where('spans', 'trace_id', TRACES[0]),
];
/** While nothing else happens: before both writes, between them, after them, and all the time. */
const EARLY = { sent: 1, answered: 2 };
const LATE = { sent: 90, answered: 91 };
const ALWAYS = { sent: 1, answered: 99 };
const WRITING = { sent: 10, answered: 20 };

describe('What lists may answer during writes', () => {
  /** Each adds a span with an error to both traces, which are in a session each. */
  const first = writing([span(0, 3, 2000), span(1, 4, 2001)]);
  const second = writing([span(0, 5, 3000), span(1, 6, 3001)]);
  const moments = [[], [first], [first, second]];

  it('is a recount at any moment between the request and its answer', () => {
    for (const view of VIEWS)
      for (const writings of moments) expect(judged([reading(view, ALWAYS, writings)])).to.equal(null);
  });

  it('is nothing that mixes two moments', () => {
    for (const view of VIEWS) {
      const [early, late] = [answersAt(view, [first]), answersAt(view, [first, second])];
      // A request without one of its spans, or the second without the first; one row of before beside one of after.
      const mixed =
        view.list === 'spans'
          ? late.filter((_, index) => index !== 1)
          : late.map((row, index) => (index === 0 ? (early.find(({ id }) => id === row['id']) ?? row) : row));
      expect(judged([{ ...ALWAYS, view, answers: mixed }]), JSON.stringify(view)).to.match(/is of no one moment/);
    }
  });

  it('is nothing that lacks a row, has one twice or out of order, or one with another field or time', () => {
    for (const view of VIEWS.slice(0, 4)) {
      const [row, ...others] = answersAt(view, [first]);
      if (!row) throw new Error('nothing is listed');
      const wrong = [others, [row, row, ...others], [...others, row], [{ ...row, name: 'another' }, ...others]];
      for (const answers of [...wrong, [{ ...row, created_at: iso(9999) }, ...others]])
        expect(judged([{ ...ALWAYS, view, answers }]), JSON.stringify(answers)).to.match(/is of no one moment/);
    }
  });

  it('lacks nothing that was acknowledged before the request', () => {
    for (const view of VIEWS) {
      expect(judged([reading(view, LATE, [first, second])])).to.equal(null);
      expect(judged([reading(view, LATE, [first])])).to.match(/after 2 of 2 writes, .* must be/);
    }
  });

  it('holds nothing that was sent after the answer', () => {
    for (const view of VIEWS) {
      expect(judged([reading(view, EARLY, [])])).to.equal(null);
      expect(judged([reading(view, EARLY, [first])])).to.match(/after 0 of 2 writes, .* must be/);
    }
  });

  it('does not go back to before an earlier answer, of whatever list', () => {
    const [spans, traces] = VIEWS as [View, View];
    const [one, another] = [
      { sent: 11, answered: 12 },
      { sent: 13, answered: 14 },
    ];
    expect(judged([reading(spans, one, [first]), reading(traces, another, [first, second])])).to.equal(null);
    expect(judged([reading(traces, one, [first, second]), reading(traces, another, [first])])).not.to.equal(null);
    expect(judged([reading(traces, one, [first, second]), reading(spans, another, [first])])).not.to.equal(null);
    // Of two that are under way at once, either may be of the later moment.
    const meanwhile = { sent: 11, answered: 14 };
    expect(judged([reading(traces, one, [first, second]), reading(spans, meanwhile, [first])])).to.equal(null);
  });

  describe('with a posted trace of which only the request is known', () => {
    const posted = writing([postedTrace({ low: 1500, high: 3500 })]);
    const all = [first, second, posted];

    it('has it at any place, and all answers agree on which', () => {
      for (const view of VIEWS)
        for (const writings of [[posted], [first, posted], [first, second, posted]])
          expect(judged([reading(view, ALWAYS, writings)], all)).to.equal(null);
      const [before, between] = [[posted], [first, posted]];
      const traces = whole('traces');
      expect(judged([reading(traces, ALWAYS, before), reading(traces, ALWAYS, between)], all)).to.equal(null);
      expect(judged([reading(traces, ALWAYS, before), reading(traces, ALWAYS, [first])], all)).not.to.equal(null);
    });

    it('has spans in the order of their times alone', () => {
      expect(judged([reading(whole('spans'), ALWAYS, [second])], all)).not.to.equal(null);
    });

    it('has it where its request ended before a span was taken in', () => {
      const earlier = writing([postedTrace({ low: 1500, high: 1999 })]);
      expect(judged([reading(whole('spans'), ALWAYS, [first])], [first, earlier])).to.equal(null);
      expect(judged([reading(whole('traces'), ALWAYS, [first])], [first, earlier])).not.to.equal(null);
    });
  });

  function judged(readings: Reading[], writings = [first, second]): string | null {
    return contradiction(modelOf([]), writings, readings);
  }
});

function reading(view: View, when: Exchange, writings: readonly Writing[]): Reading {
  return { ...when, view, answers: answersAt(view, writings) };
}

/** What a right server lists once it has taken in these. */
function answersAt(view: View, writings: readonly Writing[]): Read[] {
  const recount = modelOf(writings).recount();
  const rows = [...recount[view.list].values()].map(({ variants: [read], created }): Read => ({
    ...read,
    created_at: iso(created.high),
  }));
  const rank = (read: Read) => {
    const value = read[view.sort];
    if (typeof value !== 'string') return '';
    return view.sort === 'cost' ? String(decimal(value, 12)).padStart(30, '0') : value;
  };
  return rows.filter((read) => view.holds(read, recount)).sort((a, b) => (rank(a) < rank(b) ? 1 : -1));
}

/** With one span of each trace from before. */
function modelOf(writings: readonly Writing[]): Model {
  const model = new Model('project');
  for (const write of [span(0, 1, 1000), span(1, 2, 1001)]) model.apply(write);
  for (const write of writings.flatMap(({ writes }) => writes)) model.apply(write);
  return model;
}

function writing(writes: Writing['writes']): Writing {
  return { ...WRITING, writes };
}

function span(trace: 0 | 1, number: number, at: number): Extract<Write, { kind: 'span' }> {
  const sent: SentSpan = {
    id: `0199a1b2-0000-7000-8000-00000000000${number}`,
    trace_id: TRACES[trace],
    session_id: SESSIONS[trace],
    name: 'chat',
    started_at: iso(number * 1e6),
    status: 'error',
    cost: number,
  };
  return { kind: 'span', at: { low: at, high: at }, sent };
}

function postedTrace(at: Moment): Extract<Write, { kind: 'trace' }> {
  const sent: SentTrace = {
    id: TRACES[0],
    session_id: SESSIONS[0],
    name: 'posted',
    started_at: iso(0),
    status: 'error',
  };
  return { kind: 'trace', at, sent };
}
