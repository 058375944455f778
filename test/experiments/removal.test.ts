import { expect } from 'chai';
import { ExperimentRemoval, type ExperimentRemovalParts } from '../../src/features/experiments/experiment-removal.js';

type RemoveSpans = ExperimentRemovalParts['removeSpans'];

function scene(removeSpans: RemoveSpans) {
  const hidden = new Map([
    ['broken', 'p1'],
    ['whole', 'p1'],
    ['other', 'p2'],
  ]);
  let failures = 0;
  const removal = new ExperimentRemoval({
    experiments: {
      hidden: () => [...hidden].map(([id, project_id]) => ({ id, project_id })),
      forget: (id: string) => void hidden.delete(id),
    },
    results: { async *spansOf() {} },
    intake: { idle: async () => undefined },
    stored: { async *contents() {} },
    removeComparisons: () => 0,
    removeSpans,
    observer: { experimentNotRemoved: () => (failures += 1) },
  });
  return { removal, left: () => [...hidden.keys()], failures: () => failures };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the removal of experiments', () => {
  it('goes on where one of them fails, and tries that again', async () => {
    let works = false;
    const { removal, left, failures } = scene(async (_project, id) => {
      if (id === 'broken' && !works) throw new Error('broken');
      return false;
    });
    removal.resume();
    await pause(50);
    expect([left(), failures()]).to.deep.equal([['broken'], 1]);
    works = true;
    for (let tries = 0; tries < 50 && left().length > 0; tries += 1) await pause(100);
    expect(left()).to.deep.equal([]);
    await removal.close();
  });

  it('ends, however long clients go on to mark spans as results', async () => {
    let rounds = 0;
    const { removal, left } = scene(async () => {
      rounds += 1;
      return true;
    });
    await removal.remove('p1', 'whole');
    expect(left()).to.not.include('whole');
    expect(rounds).to.be.below(10);
    await removal.close();
  });

  it('keeps nobody waiting for those of another project', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { removal, left } = scene(async (_project, id) => {
      if (id === 'broken') await held;
      return false;
    });
    removal.resume();
    await removal.remove('p2', 'other');
    expect(left()).to.deep.equal(['broken', 'whole']);
    release();
    await removal.remove('p1', 'whole');
    expect(left()).to.deep.equal([]);
    await removal.close();
  });
});
