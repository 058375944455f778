import { expect } from 'chai';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { defaultQuery } from '../../src/engine/traces/model/list/query.js';
import { Tails, type TailNews, type TailSource } from '../../src/engine/traces/model/list/tail.js';

/** Reads that end when they are told to. */
class HeldReads implements TailSource {
  readonly begun: { readonly projectId: string; end(): void }[] = [];
  #woken = (): void => undefined;

  now = () => 1;
  ago = () => 0;
  onCommit = () => () => undefined;

  read({ projectId }: Parameters<TailSource['read']>[0]): Promise<TailNews> {
    return new Promise((resolve) => {
      this.begun.push({ projectId, end: () => resolve({ rows: ['{}'], skipped: 0, state: 2 }) });
      this.#woken();
    });
  }

  async until(count: number): Promise<void> {
    while (this.begun.length < count) await new Promise<void>((resolve) => (this.#woken = resolve));
  }
}

describe('the reads of tails', () => {
  const query = (search: string) => ({ ...defaultQuery(spanList), search });
  const open = (tails: Tails, projectId: string, search: string) =>
    tails.open({ projectId, list: 'spans', query: query(search) }, null);

  it('take turns: one of a project, and none of a tail that has left', async () => {
    const reads = new HeldReads();
    const tails = new Tails(reads);
    const [left, ...others] = [
      open(tails, 'one', 'b'),
      ...['one', 'two', 'three'].map((project) => open(tails, project, 'c')),
    ];
    const news = [open(tails, 'one', 'a'), left, ...others].flatMap((tail) =>
      tail === undefined ? [] : [tail.next(60_000)],
    );
    await reads.until(3);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reads.begun.map(({ projectId }) => projectId)).to.deep.equal(['one', 'two', 'three']);
    left?.end();
    for (let at = 0; at < 4; at += 1) {
      await reads.until(at + 1);
      reads.begun[at]?.end();
    }
    expect((await Promise.all(news)).map((each) => each?.rows.length ?? null)).to.deep.equal([1, null, 1, 1, 1]);
    expect(reads.begun.map(({ projectId }) => projectId).sort()).to.deep.equal(['one', 'one', 'three', 'two']);
  });
});
