import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { EvalService, type EvalServiceParts } from '../../src/features/experiments/eval-service.js';
import { ResultIntake, type ResultIntakeParts } from '../../src/features/experiments/result-intake.js';

const ID = '0b9a3c52-8a77-4a0b-9a39-0c4f0a5d1e11';

/** Posts results of `r0`, `r1`, …, whose rows have so many bytes. */
function scene({ rowBytes = 10 } = {}) {
  let state = 'running';
  const written: number[] = [];
  let release: () => void = () => undefined;
  let began: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const storing = new Promise<void>((resolve) => (began = resolve));
  const asked: number[] = [];
  const datasets = {
    rowSizes: (_place: unknown, ids: readonly string[]) => {
      asked.push(ids.length);
      return new Map(ids.map((id) => [id, rowBytes]));
    },
    namedRows: () => new Map<string, string>(),
    rowIds: () => [],
  };
  const intake = new ResultIntake({
    experiments: { noteResults: () => undefined, strays: () => 0, setStrays: () => undefined },
    results: {},
    datasets,
    ingest: {
      postSpans: async (_project: string, spans: readonly unknown[]) => {
        written.push(spans.length);
        began();
        await held;
      },
    },
  } as unknown as ResultIntakeParts);
  const find = () => {
    if (state === 'gone') throw new DomainError('not_found', 'gone');
    const dataset = { id: 'd', name: 'd', gone: false };
    return { id: ID, name: 'e', dataset, dataset_version: 1, rows: 5_000, repetitions: 1, status: state };
  };
  const evals = new EvalService({ experiments: { find }, intake, datasets } as unknown as EvalServiceParts);
  return {
    ...{ intake, written, storing, asked, release },
    set: (next: string) => (state = next),
    post: (count: number) =>
      evals.post('p', ID, { results: Array.from({ length: count }, (_none, index) => ({ row_id: `r${index}` })) }),
  };
}

const kindOf = (error: unknown) => (error instanceof DomainError ? error.kind : error);

describe('results that the Python SDK sends at once', () => {
  it('are stored no further when their experiment is deleted or canceled, and its removal waits for them', async () => {
    for (const [state, kind] of [
      ['gone', 'not_found'],
      ['canceled', 'conflict'],
    ] as const) {
      const { intake, written, storing, release, set, post } = scene();
      const posted = post(2_500).then(() => 'stored', kindOf);
      await storing;
      set(state);
      let idle = false;
      const waited = intake.idle(ID).then(() => (idle = true));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(idle).to.equal(false);
      release();
      expect(await posted).to.equal(kind);
      await waited;
      expect(written).to.deep.equal([1_000]);
    }
  });

  it('are waited for also between two portions', async () => {
    const { asked, intake, written, storing, release, post } = scene();
    const posted = post(2_500);
    await storing;
    const waited = intake.idle(ID);
    release();
    await waited;
    expect(written).to.deep.equal([1_000, 1_000, 500]);
    expect(await posted).to.have.length(2_500);
    // Rows are looked up in portions: one read of 100,000 would keep all others waiting.
    expect(Math.max(...asked)).to.be.at.most(2_000);
  });
});
