import { expect } from 'chai';
import type { Judge } from '../../src/features/judges/judge.js';
import type { JudgedSpan } from '../../src/engine/traces/model/judged/span-reader.js';
import { CorrectionExamples } from '../../src/features/calibration/correction-examples.js';
import { JUDGE, JudgeFile } from './judge-file.js';

/** Far more than reading a pool once or twice takes. */
const MAX_READS = 50;

describe('examples from a set of corrections that contradicts itself', () => {
  let file: JudgeFile;
  beforeEach(() => {
    file = new JudgeFile();
  });
  afterEach(() => {
    file.dispose();
  });

  const span = { id: 'x', input: null, output: null } as unknown as JudgedSpan;
  const judge = { id: JUDGE, project_id: 'project' } as Judge;

  /** Chooses from the stored corrections; a loop, which would leave no turn for a timeout of the test, ends by an error. */
  function examplesOf(atRead: (read: number) => void = () => undefined): CorrectionExamples {
    const { store } = file;
    let reads = 0;
    const counted = <T>(read: () => T): T => {
      if ((reads += 1) > MAX_READS) throw new Error('It reads without an end');
      atRead(reads);
      return read();
    };
    return new CorrectionExamples({
      corrections: {
        revision: (id) => counted(() => store.revision(id)),
        lastRemoval: (id) => counted(() => store.lastRemoval(id)),
        examples: (...of) => store.examples(...of),
        between: (...of) => store.between(...of),
        versions: (id) => store.versions(id),
      },
      spans: { find: async () => new Map() },
      maxTokens: 4000,
      observer: { examplesChosen: () => undefined },
    });
  }

  const store = (revision: number, lastRemoval: number) =>
    file.database.exec(
      `INSERT INTO correction_sets (judge_id, revision, last_removal) VALUES ('${JUDGE}', ${revision}, ${lastRemoval})`,
    );

  it('come to an end where one was removed at a revision that is still to come', async () => {
    store(1, 5);
    const examples = examplesOf();
    expect(await examples.examplesFor(judge, span)).to.deep.equal({ id: 'e5', messages: [], span_ids: [] });
    expect((await examples.examplesAmong(judge, span, () => true)).id).to.equal('e5');
  });

  it('come to an end where numbers are beyond those that are exact', async () => {
    store(2 ** 53, 2 ** 53);
    expect((await examplesOf().examplesFor(judge, span)).messages).to.deep.equal([]);
  });

  it('come to an end where the set goes while it is read', async () => {
    store(3, 0);
    // With the judge's project, right after its revision was asked for.
    const examples = examplesOf((read) => {
      if (read === 2) file.database.exec('DELETE FROM correction_sets');
    });
    expect((await examples.examplesFor(judge, span)).messages).to.deep.equal([]);
  });
});
