import { expect } from 'chai';
import { BelievedClock, type ClockNote } from '../../src/features/retention/believed-clock.js';

const DAY = 86_400e6;

describe('a clock that was ahead once', () => {
  const systemNow = Date.now;
  afterEach(() => {
    Date.now = systemNow;
  });

  /** A clock that was noted 400 days ahead. @param waited as of {@link ClockNote} */
  function noted(waited: number) {
    let note: ClockNote = { at: Date.now() * 1000 + 400 * DAY, waited };
    const clock = new BelievedClock({
      memory: { read: () => note, update: (next) => void (note = next(note)) },
      newestStored: null,
      matters: () => true,
      observer: { clockLooked: () => undefined },
    });
    const jump = (days: number) => {
      Date.now = () => systemNow() + (days * DAY) / 1000;
    };
    return { clock, jump, note: () => note };
  }

  it('is measured from what it says now, once the server has run with that for a day', () => {
    const { clock, jump, note } = noted(-DAY);
    expect(clock.now()).to.not.equal(null);
    expect(note().at).to.be.closeTo(Date.now() * 1000, 60e6);
    jump(390);
    expect(clock.now()).to.equal(null);
  });

  it('counts for that what the server ran before a restart, and nothing else', () => {
    const { clock, note } = noted(-DAY / 2);
    const { at } = note();
    expect(clock.now()).to.not.equal(null);
    expect(note().at).to.equal(at);
    expect(note().waited).to.be.within(-DAY / 2 - 60e6, -DAY / 2);
  });

  it('is not believed sooner for it when it jumps further', () => {
    const { clock, jump, note } = noted(-DAY / 2);
    jump(402);
    expect(clock.now()).to.equal(null);
    expect(note().waited).to.be.within(0, 60e6);
  });
});
