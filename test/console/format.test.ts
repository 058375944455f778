import { expect } from 'chai';
import {
  bytes,
  compact,
  count,
  counted,
  duration,
  money,
  moneyInFull,
  percent,
} from '../../src/console/model/format.js';

describe('how the console writes figures', () => {
  it('writes what is not known as a dash, and zero as zero', () => {
    for (const write of [count, compact, money, duration, bytes, percent]) {
      expect(write(null)).to.equal('–');
      expect(write(0)).to.match(/0/);
    }
    expect(moneyInFull(null)).to.equal('unknown');
  });

  it('writes money with the digits that matter, and all of them in full', () => {
    expect([1234.5, 3, 0.25, 0.0312, 0.00176912, 0.0000321, 0.0000032154].map(money)).to.deep.equal([
      '$1,234.50',
      '$3.00',
      '$0.25',
      '$0.0312',
      '$0.0018',
      '$0.000032',
      '<$0.00001',
    ]);
    expect(money(-0.5)).to.equal('−$0.50');
    expect(moneyInFull(0.0000032154)).to.equal('$0.0000032154');
  });

  it('writes durations in units that people read, without gaps between them', () => {
    expect([0.05, 1, 812.4, 999.9, 1000, 59_940, 59_960, 61_000, 3_600_000, 200_000_000].map(duration)).to.deep.equal([
      '50 µs',
      '1 ms',
      '812 ms',
      '1.00 s',
      '1.00 s',
      '59.9 s',
      '1 m 00 s',
      '1 m 01 s',
      '1 h 00 m',
      '2 d 7 h',
    ]);
  });

  it('shortens counts and bytes', () => {
    expect([9999, 12_345, 1_234_567].map(compact)).to.deep.equal(['9,999', '12.3K', '1.23M']);
    expect([999, 1500, 2_340_000_000].map(bytes)).to.deep.equal(['999 bytes', '1.5 KB', '2.34 GB']);
    expect([counted(1, 'span'), counted(2000, 'span')]).to.deep.equal(['1 span', '2,000 spans']);
    expect([0.0123, 0.5, 1].map(percent)).to.deep.equal(['1.2%', '50%', '100%']);
  });
});
