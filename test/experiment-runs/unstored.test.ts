import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { JobFailure, type Job } from '../../src/engine/work/job.js';
import { workOnEach } from '../../src/engine/work/job-items.js';
import { runJob, type RunParts } from '../../src/features/experiment-runs/run-job.js';

/** A run of some rows, whose answers a store takes or not. */
function scene(rows: number, maxCost: number | null, store: () => void) {
  const kept: { cost: number | null; unstored?: number }[] = [];
  let asked = 0;
  const experiment = {
    id: randomUUID(),
    status: 'running',
    repetitions: 1,
    dataset: { id: 'd', gone: false },
    dataset_version: 1,
  };
  const parts = {
    client: {
      async complete() {
        asked += 1;
        return {
          content: 'Fine',
          refusal: null,
          model: 'm',
          usage: { input_tokens: 1, output_tokens: 1 },
          finish_reason: 'stop',
        };
      },
    },
    maxAttempts: 1,
    retry: { firstMs: 1, mostMs: 1 },
    experiments: { find: () => experiment, setStatus: () => undefined },
    results: { figures: async () => new Map() },
    missing: {
      page: async () => ({
        missing: Array.from({ length: rows }, (_none, row) => ({ row_id: `r${row}`, repetition: 1 })),
        total: rows,
      }),
    },
    datasets: {
      rowSizes: (_place: unknown, ids: readonly string[]) => new Map(ids.map((id) => [id, 2])),
      namedRows: (_place: unknown, ids: readonly string[]) => new Map(ids.map((id) => [id, '{}'])),
    },
    intake: {
      storing: (_project: string, _id: string, work: () => Promise<unknown>) => work(),
      store: async () => store(),
    },
    storeSpans: async () => undefined,
    price: () => 100,
    isPaused: () => false,
  } as unknown as RunParts;
  const plan = {
    ...{ prompt: { id: randomUUID(), slug: 's', version: 1, content: 'Hi' }, model: 'm', temperature: null },
    ...{ columns: {}, roles: {}, rows: null, max_cost: maxCost },
  };
  const job = (checkpoint: unknown) =>
    ({
      id: 'j',
      project_id: 'p',
      subject_id: experiment.id,
      done: 0,
      summary: { rows, max_cost: maxCost },
      input: plan,
      checkpoint,
    }) as unknown as Job;
  const attempt = () => {
    const own = new AbortController();
    return runJob(parts)({
      ...{ job: job(kept.at(-1) ?? null), signal: own.signal, failedAttempts: 0, enter: () => undefined },
      advance: (_done, checkpoint) => void kept.push(checkpoint as (typeof kept)[number]),
      willShow: () => undefined,
      step: (_name, work) => work(),
      each: (items, work) => workOnEach(items, work, own, own.signal),
    });
  };
  return { attempt, kept, asked: () => asked };
}

const away = () => {
  throw new DomainError('unavailable', 'The store is away');
};

/** Why the job failed for good, as its runner tries again until then. */
async function ended(attempt: () => Promise<unknown>): Promise<string> {
  for (let attempts = 0; attempts < 100; attempts += 1) {
    const error = await attempt().catch((reason: unknown) => reason);
    if (error instanceof JobFailure) return error.message;
    expect(error).to.be.instanceOf(DomainError);
  }
  return 'It never ended';
}

describe('answers of a run that cannot be stored', () => {
  it('are stored again before they are asked for again', async () => {
    let left = 3;
    const { attempt, kept, asked } = scene(1, null, () => {
      left -= 1;
      if (left >= 0) away();
    });
    await attempt();
    expect(asked()).to.equal(1);
    expect(kept.at(-1)?.unstored).to.equal(undefined);
  });

  it('count as cost, so that the run stops before its maximum', async () => {
    const { attempt, kept, asked } = scene(1, 350, away);
    expect(await ended(attempt)).to.include('max_cost');
    expect(kept.at(-1)?.cost).to.equal(300);
    expect(asked()).to.equal(3);
  });

  it('end the run when they are many', async () => {
    const { attempt, asked } = scene(1, null, away);
    expect(await ended(attempt)).to.include('could not be stored');
    expect(asked()).to.equal(20);
  });

  it('count, too, where they are given up with another', async () => {
    const { attempt, kept, asked } = scene(8, null, away);
    expect(await ended(attempt)).to.include('could not be stored');
    expect(asked()).to.equal(24);
    expect(kept.at(-1)?.unstored).to.equal(24);
  });
});
