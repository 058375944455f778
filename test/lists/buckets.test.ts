import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { bucketsBetween, timeZoneNamed } from '../../src/engine/traces/model/list/buckets.js';

const micros = (text: string) => Date.parse(text) * 1000;
const starts = (from: string, to: string, seconds: number | null, zone: string) =>
  bucketsBetween(micros(from), micros(to), seconds, zone)
    .edges.slice(0, -1)
    .map((edge) => new Date(edge / 1000).toISOString().slice(5, 16));
const lengths = (from: string, to: string, seconds: number, zone: string) => {
  const { edges } = bucketsBetween(micros(from), micros(to), seconds, zone);
  return edges.slice(1).map((edge, index) => (edge - (edges[index] ?? 0)) / 60e6);
};
const HOUR = 3600;
const DAY = 24 * HOUR;

describe('Buckets of time', () => {
  it('begin at multiples of their length, the first before the first moment', () => {
    expect(starts('2026-01-05T08:07Z', '2026-01-05T08:20Z', 300, 'UTC')).to.deep.equal([
      '01-05T08:05',
      '01-05T08:10',
      '01-05T08:15',
      '01-05T08:20',
    ]);
  });

  it('follow time zones with half hours', () => {
    expect(starts('2026-01-05T08:07Z', '2026-01-05T09:40Z', HOUR, 'Asia/Kolkata')).to.deep.equal([
      '01-05T07:30',
      '01-05T08:30',
      '01-05T09:30',
    ]);
    expect(starts('2026-01-05T20:00Z', '2026-01-06T20:00Z', DAY, 'Asia/Kathmandu')).to.deep.equal([
      '01-05T18:15',
      '01-06T18:15',
    ]);
  });

  it('of a day are an hour shorter in March and longer in October, in Berlin', () => {
    expect(starts('2026-03-28T12:00Z', '2026-03-30T12:00Z', DAY, 'Europe/Berlin')).to.deep.equal([
      '03-27T23:00',
      '03-28T23:00',
      '03-29T22:00',
    ]);
    expect(lengths('2026-03-28T12:00Z', '2026-03-30T12:00Z', DAY, 'Europe/Berlin')).to.deep.equal([1440, 1380, 1440]);
    expect(lengths('2026-10-24T12:00Z', '2026-10-26T12:00Z', DAY, 'Europe/Berlin')).to.deep.equal([1440, 1500, 1440]);
  });

  it('of hours follow the clocks of these days', () => {
    expect(lengths('2026-03-28T23:00Z', '2026-03-29T21:59Z', HOUR, 'Europe/Berlin')).to.deep.equal(
      Array.from({ length: 23 }, () => 60),
    );
    expect(lengths('2026-10-24T22:00Z', '2026-10-25T22:59Z', HOUR, 'Europe/Berlin')).to.have.length(25);
    expect(lengths('2026-03-28T23:00Z', '2026-03-29T21:59Z', 6 * HOUR, 'Europe/Berlin')).to.deep.equal([
      300, 360, 360, 360,
    ]);
    expect(lengths('2026-10-24T22:00Z', '2026-10-25T22:59Z', 6 * HOUR, 'Europe/Berlin')).to.deep.equal([
      420, 360, 360, 360,
    ]);
    expect(starts('2026-10-25T04:30Z', '2026-10-25T04:40Z', 6 * HOUR, 'Europe/Berlin')).to.deep.equal(['10-24T22:00']);
  });

  it('follow clocks that change by half an hour, and at midnight', () => {
    // Lord Howe goes back from 2:00 to 1:30 on the 5th of April, on from 2:00 to 2:30 on the 4th of October.
    expect(lengths('2026-04-04T13:00Z', '2026-04-04T17:29Z', HOUR, 'Australia/Lord_Howe')).to.deep.equal([
      60, 90, 60, 60,
    ]);
    expect(lengths('2026-10-03T14:30Z', '2026-10-03T17:30Z', HOUR, 'Australia/Lord_Howe')).to.deep.equal([
      60, 30, 60, 60,
    ]);
    // Cairo goes on from midnight to 1:00 on the 24th of April.
    expect(lengths('2026-04-22T22:00Z', '2026-04-24T20:59Z', DAY, 'Africa/Cairo')).to.deep.equal([1440, 1380]);
    expect(lengths('2026-04-22T22:00Z', '2026-04-24T20:59Z', 12 * HOUR, 'Africa/Cairo')).to.deep.equal([
      720, 720, 660, 720,
    ]);
    // Samoa had no 30th of December.
    expect(lengths('2011-12-29T10:00Z', '2011-12-31T09:59Z', DAY, 'Pacific/Apia')).to.deep.equal([1440, 1440]);
  });

  it('of weeks begin on Mondays', () => {
    expect(starts('2026-01-01T00:00Z', '2026-01-12T00:00Z', 7 * DAY, 'UTC')).to.deep.equal([
      '12-29T00:00',
      '01-05T00:00',
      '01-12T00:00',
    ]);
  });

  it('are at most 120 where their length is chosen, of any range and zone', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Africa/Cairo'])
      for (const seconds of [0, 1, 59, 3600, DAY, 7 * DAY, 30 * DAY, 366 * DAY, 50 * 366 * DAY, 284 * 365 * DAY]) {
        const from = micros('1970-01-01T00:00Z');
        const { edges } = bucketsBetween(from, from + seconds * 1e6, null, zone);
        expect(edges.length - 1, `${zone} ${seconds}`).to.be.within(1, 120);
        expect(edges[0]).to.be.at.most(from);
        expect(edges.at(-1)).to.be.greaterThan(from + seconds * 1e6);
        expect(edges).to.deep.equal([...new Set(edges)].sort((a, b) => a - b));
      }
  });

  it('are at most a thousand', () => {
    const [from, to] = [micros('2026-01-01T00:00Z'), micros('2026-01-01T00:16:39Z')];
    expect(bucketsBetween(from, to, 1, 'UTC').edges).to.have.length(1001);
    expect(() => bucketsBetween(from, to + 1e6, 1, 'UTC')).to.throw(DomainError, '?bucket must be longer');
    expect(() => bucketsBetween(0, micros('2254-01-01T00:00Z'), 1, 'UTC')).to.throw(DomainError, '?bucket');
  });

  it('are none when the bounds cross', () => {
    expect(bucketsBetween(2e6, 1e6, 1, 'UTC').edges).to.deep.equal([]);
  });

  it('know IANA time zones alone, by one name', () => {
    expect(timeZoneNamed('europe/berlin')).to.equal('Europe/Berlin');
    for (const name of ['', '+01:00', 'Europe', 'Europe/Atlantis', 'x'.repeat(1000), 'Europe/Berlin ', '../etc'])
      expect(timeZoneNamed(name), name).to.equal(undefined);
  });
});
