import { expect } from 'chai';
import { addressOf, changed, leadsElsewhere, placeOf } from '../../src/console/model/place.js';
import { boundsOf, rangeOf } from '../../src/console/model/range.js';
import { ago, writeTime, zoneName, zoneNames } from '../../src/console/model/time.js';

const at = (address: string, base = '') => placeOf(base, new URL(address, 'https://example.org'));

describe('addresses of the console', () => {
  it('mean the same when they are written again', () => {
    for (const address of [
      '/console/p/1/traces?has_error=true&range=1h',
      '/console/p/1/prompts/team/support%20%25?a=1&b=2',
      '/console',
    ])
      expect(addressOf('', at(address))).to.equal(address);
    expect(addressOf('/sub', at('/sub/console/p/1/spans', '/sub'))).to.equal('/sub/console/p/1/spans');
  });

  it('are read however somebody has cut them', () => {
    expect(at('/console/p/1')).to.include({ project: '1', screen: '', id: null });
    expect(at('/console/p')).to.include({ project: null });
    expect(at('/console/p/1/prompts/100%')).to.include({ id: '100%' });
    expect(at('/elsewhere')).to.include({ project: null, screen: '' });
  });

  it('lead to no call but the one that is written', () => {
    const plain = [
      '/spans',
      '/v1/prompts/a%2Fb/x',
      '/spans?q=a/../b',
      '/prompts/...',
      '/a%5C..%5Cb',
      '/traces/a.b:pin',
    ];
    for (const path of plain) {
      expect(leadsElsewhere(path), path).to.equal(false);
      expect(new URL(path, 'http://a').pathname, path).to.equal(path.split('?')[0]);
    }
    const { id } = at('/console/p/1/traces/x%5C..%5C..%5Cjudges%5C1');
    const others = ['/a/../b', '/a/.', '/a/%2e%2E/b', '/a\\..\\b', '/a\\b', '/\\evil.example/a', '//evil.example/a'];
    const hidden = ['/a/.\t./b', '/a/\n../b', '/a/..\r', '/a#b', `/traces/${id}`, 'a', ''];
    for (const path of [...others, ...hidden]) expect(leadsElsewhere(path), JSON.stringify(path)).to.equal(true);
  });

  it('change by parameter', () => {
    const query = new URLSearchParams('a=1&a=2&b=3');
    expect(changed(query, { a: null, c: ['4', '5'] }).toString()).to.equal('b=3&c=4&c=5');
    expect(query.toString()).to.equal('a=1&a=2&b=3');
  });

  it('say the time that is meant, the last day where they say none', () => {
    const bounds = (search: string) => boundsOf(rangeOf(new URLSearchParams(search)));
    expect(bounds('')).to.deep.equal({ started_after: '24h' });
    expect(bounds('range=all')).to.deep.equal({});
    expect(bounds('from=2026-01-01T00:00:00Z')).to.deep.equal({ started_after: '2026-01-01T00:00:00Z' });
    expect(bounds('range=1h&to=2026-01-01T00:00:00Z')).to.deep.equal({ started_before: '2026-01-01T00:00:00Z' });
  });
});

describe('times in the console', () => {
  it('are written in the zone that is named, across the change of its clocks', () => {
    const now = Date.parse('2026-05-01T12:00:00Z');
    const written = (time: string) => writeTime(time, 'Europe/Berlin', 'short', now);
    expect(written('2026-03-29T00:30:00Z')).to.equal('29 Mar, 01:30:00');
    expect(written('2026-03-29T01:30:00Z')).to.equal('29 Mar, 03:30:00');
    expect(written('2025-12-01T01:30:00Z')).to.equal('1 Dec, 02:30:00');
    expect(written('2025-10-01T01:30:00Z')).to.equal('1 Oct 2025, 03:30');
    expect(writeTime('2026-03-29T01:30:00Z', 'UTC', 'time')).to.equal('01:30:00');
    expect(writeTime(null, 'UTC')).to.equal('–');
    expect(zoneName('UTC')).to.equal('UTC');
    const [summer, winter] = [Date.parse('2026-07-01T00:00:00Z'), Date.parse('2026-12-01T00:00:00Z')];
    expect(zoneNames('UTC', summer, winter)).to.equal('UTC');
    expect(zoneNames('Europe/Berlin', summer, winter)).to.match(/^[^/]+\/[^/]+$/);
  });

  it('are told as how long ago they are', () => {
    const now = Date.parse('2026-05-01T12:00:00Z');
    expect([1000, 90_000, 7_200_000, 86_400_000].map((ms) => ago(now - ms, now))).to.deep.equal([
      '1 second ago',
      '1 minute ago',
      '2 hours ago',
      'yesterday',
    ]);
  });
});
