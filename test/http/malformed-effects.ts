import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Operation } from '../harness/api-document.js';
import type { TestResponse } from '../harness/server.js';
import type { MalformedScene } from './malformed-scene.js';

// Answers are looked into; a wrong guess at their shape fails an assertion.
type Check = (scene: MalformedScene, answer: any) => Promise<void>;

/** What is taken, however odd, is there as it was answered, and can be used. */
const checks: Readonly<Record<string, Check>> = {
  async createJudge({ api }, judge) {
    const path = `${api.project}/judges/${judge.id}`;
    expect(await api.get(path)).to.deep.equal(judge);
    const span = randomUUID();
    await api.spans([{ id: span, input_data: 'q', output_data: 'a' }]);
    expect((await api.send('GET', `${path}/explain/${span}`)).status).to.equal(200);
    expect((await api.send('POST', `${path}:run`, { backfill: 1 })).status).to.be.oneOf([202, 409]);
    expect((await api.send('DELETE', path)).status).to.equal(204);
  },
  async updateJudge({ api }, judge) {
    expect(await api.get(`${api.project}/judges/${judge.id}`)).to.deep.equal(judge);
  },
  async recordEvaluation({ api }, evaluation) {
    const { evaluations } = await api.get(`${api.project}/spans/${evaluation.span_id}/evaluations`);
    expect(evaluations.find(({ id }: { id: string }) => id === evaluation.id)).to.deep.include(evaluation);
  },
  async submitFeedback({ api }, { id, completion_id, thumbs_up }) {
    const { items } = await api.get(`${api.project}/feedback/span/${completion_id}`);
    expect(items.find((item: { id: string }) => item.id === id)).to.include({ id, thumbs_up });
  },
  async optimizePrompt({ api }, { id }) {
    const { status } = await api.finished(`${api.project}/prompts/p/optimizations/${id}`);
    expect(status).to.equal('failed');
  },
};

export async function checkTaken(scene: MalformedScene, { id }: Operation, { json }: TestResponse): Promise<void> {
  await checks[id]?.(scene, json);
}
