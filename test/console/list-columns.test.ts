import { expect } from 'chai';
import { isColumn } from '../../src/engine/traces/model/list/columns.js';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import {
  columnsOf,
  defaultWidth,
  fieldsFor,
  flexibleOf,
  moved,
  valueOf,
  widthsOf,
  writeWidths,
} from '../../src/console/model/list-columns.js';
import {
  MAX_WAITING,
  NO_LIVE_ROWS,
  received,
  released,
  rowsShown,
  settled,
} from '../../src/console/model/live-rows.js';
import { pagesAround } from '../../src/console/model/pages.js';
import { bucketEnd, clockTime, isShownTwice, momentOf } from '../../src/console/model/zoned-time.js';

describe('columns of lists in the console', () => {
  it('are those that are named and known, else the usual ones', () => {
    expect(columnsOf(spanList, 'cost,nonsense,constructor,tags.a%2Cb,cost')).to.deep.equal(['cost', 'tags.a,b']);
    for (const list of [spanList, traceList, sessionList]) {
      expect(columnsOf(list, null)[0]).to.equal('name');
      expect(columnsOf(list, 'nonsense')).to.deep.equal(columnsOf(list, null));
      for (const column of columnsOf(list, null)) expect(isColumn(list, column), column).to.equal(true);
    }
  });

  it('ask for nothing large that is not shown', () => {
    const usual = fieldsFor(spanList, columnsOf(spanList, null));
    expect(usual).to.include.members(['input_data', 'output_data', 'tags', 'error_message']);
    for (const large of ['attributes', 'trace_tags', 'session_tags']) expect(usual).to.not.include(large);
    for (const large of ['input_data', 'output_data', 'attributes', 'tags'])
      expect(fieldsFor(spanList, ['name', 'cost'])).to.not.include(large);
    expect(fieldsFor(spanList, ['input_data', 'tags.a'])).to.include.members(['id', 'trace_id', 'input_data', 'tags']);
  });

  it('may be scores, which are asked for only then', () => {
    expect(columnsOf(traceList, 'name,scores.tone,scores.')).to.deep.equal(['name', 'scores.tone']);
    expect(fieldsFor(traceList, ['name', 'scores.tone'])).to.include('scores');
    expect(fieldsFor(traceList, columnsOf(traceList, null))).to.not.include('scores');
    const row = { id: '1', scores: { tone: 'calm', ok: false } };
    expect([valueOf(row, 'scores.tone'), valueOf(row, 'scores.ok'), valueOf(row, 'scores.constructor')]).to.deep.equal([
      'calm',
      false,
      null,
    ]);
    expect(valueOf({ id: '1' }, 'scores.tone')).to.equal(null);
  });

  it('read values of fields and tags', () => {
    const row = { id: '1', name: 'n', tags: { a: 'b' } };
    expect([valueOf(row, 'name'), valueOf(row, 'tags.a'), valueOf(row, 'tags.constructor')]).to.deep.equal([
      'n',
      'b',
      null,
    ]);
  });

  it('show by default what was asked and answered, for whom, and how it went', () => {
    for (const list of [spanList, traceList]) {
      const usual = columnsOf(list, null);
      expect(usual).to.include.members(['tags.user', 'status', 'started_at', 'duration_ms', 'cost']);
      const payloads = usual.filter((column) => /input|output/.test(column));
      expect(payloads).to.have.length(2);
      expect(flexibleOf(list, usual, new Map())).to.deep.equal(payloads);
      // What is left of 1440 pixels beside the navigation, the margins, the choice of rows and the filter.
      const fixed = usual.filter((column) => !payloads.includes(column)).map((column) => defaultWidth(list, column));
      expect(1440 - 184 - 48 - 70 - fixed.reduce((sum, width) => sum + width, 0)).to.be.greaterThan(2 * 150);
    }
  });

  it('leave the rest of the width to payloads, else to the first text, unless somebody resized it', () => {
    const flexible = (columns: readonly string[], ...resized: string[]) =>
      flexibleOf(spanList, columns, new Map(resized.map((column) => [column, 100])));
    expect(flexible(['name', 'input_data', 'output_data'], 'input_data')).to.deep.equal(['output_data']);
    expect(flexible(['name', 'input_data', 'output_data'], 'input_data', 'output_data')).to.deep.equal(['name']);
    expect(flexible(['cost', 'name', 'model'])).to.deep.equal(['name']);
    expect(flexible(['cost', 'name', 'model'], 'name')).to.deep.equal(['model']);
    expect(flexible(['cost', 'started_at'])).to.deep.equal(['started_at']);
  });

  it('are moved and resized', () => {
    expect(moved(['a', 'b', 'c'], 'c', -1)).to.deep.equal(['a', 'c', 'b']);
    expect(moved(['a', 'b', 'c'], 'a', -1)).to.deep.equal(['a', 'b', 'c']);
    const widths = new Map([
      ['name', 300],
      ['tags.a,b:c', 80],
    ]);
    expect(widthsOf(writeWidths(widths))).to.deep.equal(widths);
    expect(widthsOf('name:9999999,x,:5').get('name')).to.equal(1200);
    expect(defaultWidth(spanList, 'output_tokens')).to.be.greaterThan(100);
  });
});

describe('rows that a tail brings', () => {
  const row = (id: string, at: number, more = {}) => ({ id, started_at: `2026-01-01T00:00:${10 + at}Z`, ...more });
  const page = [row('b', 2), row('a', 1)];
  const options = { onPage: new Set(['a', 'b']), atOnce: false, limit: 3 };

  it('bring rows up to date where they stand, while new ones wait', () => {
    const live = received(NO_LIVE_ROWS, [row('c', 3), row('a', 1, { cost: 5 })], options);
    expect(live.waiting.size).to.equal(1);
    expect(rowsShown(page, live, 'started_at', 3)).to.deep.equal([row('b', 2), row('a', 1, { cost: 5 })]);
    const all = rowsShown(page, released(live), 'started_at', 3);
    expect(all.map(({ id }) => id)).to.deep.equal(['c', 'b', 'a']);
  });

  it('come in at the top where that disturbs nobody, and no page gets longer', () => {
    const live = received(NO_LIVE_ROWS, [row('c', 3), row('d', 4)], { ...options, atOnce: true });
    expect(rowsShown(page, live, 'started_at', 3).map(({ id }) => id)).to.deep.equal(['d', 'c', 'b']);
    expect(rowsShown(page, live, null, 3).map(({ id }) => id)).to.deep.equal(['b', 'a']);
  });

  it('give way to a page that was asked for later', () => {
    const live = received(NO_LIVE_ROWS, [row('a', 1, { cost: 5 }), row('c', 3)], options);
    const after = settled(live, new Set(['a', 'c']));
    expect([after.shown.size, after.waiting.size]).to.deep.equal([0, 0]);
  });

  it('take no more memory however many come', () => {
    let live = NO_LIVE_ROWS;
    for (let round = 0; round < 30; round += 1)
      for (const atOnce of [true, false])
        live = received(
          live,
          Array.from({ length: 200 }, (_, index) => row(`${round}-${index}-${atOnce}`, index)),
          {
            ...options,
            atOnce,
          },
        );
    expect(live.waiting.size).to.equal(MAX_WAITING);
    expect(live.shown.size).to.be.at.most(options.limit + options.onPage.size);
  });
});

describe('pages to choose from', () => {
  it('are the first, the last and those beside', () => {
    expect(pagesAround(1, 1)).to.deep.equal([1]);
    expect(pagesAround(1, 3)).to.deep.equal([1, 2, 3]);
    expect(pagesAround(7, 20)).to.deep.equal([1, null, 5, 6, 7, 8, 9, null, 20]);
  });
});

describe('times as clocks of a zone show them', () => {
  it('are read back to the same moment', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Chatham'])
      for (const time of ['2026-01-15T10:20:30.000Z', '2026-07-15T23:59:59.000Z', '2026-03-29T03:00:00.000Z'])
        expect(momentOf(clockTime(time, zone), zone), `${time} in ${zone}`).to.equal(time);
  });

  it('say which of two is meant when clocks are changed', () => {
    // Berlin shows 02:30 twice on the 25th of October, and never on the 29th of March.
    expect(momentOf('2026-10-25T02:30:00', 'Europe/Berlin')).to.equal('2026-10-25T00:30:00.000Z');
    expect(momentOf('2026-03-29T02:30:00', 'Europe/Berlin')).to.equal('2026-03-29T01:30:00.000Z');
    expect(momentOf('nonsense', 'UTC')).to.equal(null);
    const twice = (time: string) => isShownTwice(Date.parse(time), 'Europe/Berlin');
    expect(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(twice)).to.deep.equal([true, true]);
    expect(['2026-10-24T23:59:59Z', '2026-10-25T02:00:00Z', '2026-03-29T01:30:00Z'].some(twice)).to.equal(false);
  });

  it('end a bucket of days with the day, however long that is', () => {
    const end = (start: string, seconds: number, zone = 'Europe/Berlin') =>
      new Date(bucketEnd([start], 0, seconds, zone)).toISOString();
    expect(end('2026-10-24T22:00:00.000000Z', 86_400)).to.equal('2026-10-25T23:00:00.000Z');
    expect(end('2026-03-28T23:00:00.000000Z', 86_400)).to.equal('2026-03-29T22:00:00.000Z');
    expect(end('2026-03-28T23:00:00.000000Z', 7 * 86_400)).to.equal('2026-04-04T22:00:00.000Z');
    expect(end('2026-10-25T00:00:00.000000Z', 86_400, 'UTC')).to.equal('2026-10-26T00:00:00.000Z');
    // An hour that is shown twice is two buckets.
    expect(end('2026-10-25T00:00:00.000000Z', 3600)).to.equal('2026-10-25T01:00:00.000Z');
    expect(bucketEnd(['2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z'], 0, 3600, 'UTC')).to.equal(
      Date.parse('2026-10-25T02:00:00Z'),
    );
  });
});
