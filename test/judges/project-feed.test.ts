import { expect } from 'chai';
import type { FeedLane } from '../../src/features/judges/feed-lane.js';
import { FeedRoom } from '../../src/features/judges/feed-room.js';
import type { Judge } from '../../src/features/judges/judge.js';
import { ProjectFeed, type NextLook } from '../../src/features/judges/project-feed.js';
import { random as generator } from '../otlp/mutate.js';
import { PLAIN_JUDGE } from './fixture.js';

const LAST = 400;

const judgeOf = (id: string, change: Partial<Judge> = {}) =>
  ({ ...PLAIN_JUDGE, id, judged_since: 0, ...change }) as Judge;
const feedOf = (judges: readonly Judge[], looked = { arrived_at: 0, behind: {} }) =>
  new ProjectFeed('project', looked, judges, () => ({}) as FeedLane);

describe('the feed of judges', () => {
  it('lets no judge wait for another that has no room, and none look at a span twice', () => {
    const feed = feedOf([judgeOf('one'), judgeOf('full')]);
    const room = new Map([['one', 10]]);
    const [look, ...others] = feed.next(room, 0) as [NextLook];
    expect([[...look.lane.judges], look.limit, look.upTo, others]).to.deep.equal([['one'], 10, Infinity, []]);
    look.lane.looking = true;
    expect(feed.next(new Map([...room, ['full', 3]]), 0), 'it is as far').to.deep.equal([]);
    look.lane.looking = false;
    feed.move(look.lane, 10);
    feed.hasNews = false;
    expect(feed.looked).to.deep.equal({ arrived_at: 10, behind: { full: 0 } });
    expect(feed.next(room, 0), 'still no room').to.deep.equal([]);
    const [late] = feed.next(new Map([['full', 3]]), 0) as [NextLook];
    expect([[...late.lane.judges], late.limit, late.upTo]).to.deep.equal([['full'], 3, 10]);
    feed.move(late.lane, 10);
    expect(feed.next(room, 0)).to.deep.equal([]);
    expect(feed.looked, 'together again').to.deep.equal({ arrived_at: 10, behind: {} });
  });

  it('forgets what came before a judge was enabled, and judges that are gone', () => {
    const feed = feedOf([judgeOf('one'), judgeOf('full'), judgeOf('gone')], {
      arrived_at: 10,
      behind: { full: 5, gone: 3, unknown: 1 },
    });
    expect(feed.looked.behind).to.deep.equal({ full: 5, gone: 3 });
    feed.setJudges([judgeOf('one'), judgeOf('full', { judged_since: 12 }), judgeOf('new', { judged_since: 12 })]);
    expect(feed.looked).to.deep.equal({ arrived_at: 10, behind: {} });
    // Who has looked the farthest goes: what the others have not seen is there for them.
    const other = feedOf([judgeOf('one'), judgeOf('full')], { arrived_at: 10, behind: { full: 5 } });
    other.hasNews = false;
    other.setJudges([judgeOf('full')]);
    expect([other.looked, other.hasNews]).to.deep.equal([{ arrived_at: 5, behind: {} }, true]);
  });

  it('shows each judge each span once, whatever room there is, and wherever it is begun again', () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = generator(seed);
      const judges = ['a', 'b', 'c', 'd'].map((id) => judgeOf(id));
      const seen = new Map(judges.map(({ id }) => [id, [] as number[]]));
      let feed = feedOf(judges);
      let under: NextLook[] = [];
      for (let step = 0; step < 2_000; step += 1) {
        feed.hasNews = true;
        const full = step < 1_400;
        const room = new Map(judges.map(({ id }) => [id, full && random(2) === 0 ? 0 : 1 + random(9)]));
        for (const look of feed.next(room, 0)) {
          look.lane.looking = true;
          under.push(look);
        }
        // One of those under way ends.
        const [ended] = under.splice(random(Math.max(1, under.length)), 1);
        if (ended !== undefined) {
          const { lane, limit, upTo } = ended;
          const to = Math.min(lane.position + limit, upTo, LAST);
          for (const id of lane.judges)
            for (let span = lane.position + 1; span <= to; span += 1) seen.get(id)?.push(span);
          feed.move(lane, to);
          lane.looking = false;
        }
        if (random(50) === 0) [feed, under] = [feedOf(judges, feed.looked), []];
      }
      const all = Array.from({ length: LAST }, (_none, index) => index + 1);
      for (const [id, spans] of seen) expect(spans, `${id}, seed ${seed}`).to.deep.equal(all);
      for (const { lane } of under) lane.looking = false;
      feed.next(new Map(), 0);
      expect(feed.looked.behind, `seed ${seed}`).to.deep.equal({});
    }
  });

  it('gives a judge its share of what may wait, and the queue to judges of spans', () => {
    const [session, trace, span] = [
      judgeOf('session', { subject: 'session' }),
      judgeOf('trace', { subject: 'trace' }),
      judgeOf('span'),
    ];
    const room = (queued: number, waiting: number) =>
      new FeedRoom(
        {
          queued: () => new Map([['project', queued]]),
          changes: () => [{ project_id: 'project', judge_id: 'session', runs: waiting }],
        },
        1_000,
      ).of('project', [session, trace, span]);
    expect([...room(0, 10).values()], 'a page').to.deep.equal([500, 500, 500]);
    expect([...room(0, 50_000).values()]).to.deep.equal([0, 500, 500]);
    expect([...room(999, 49_999).values()]).to.deep.equal([1, 500, 1]);
    expect([...room(1_000, 10).values()]).to.deep.equal([500, 500, 0]);
  });
});
