import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Row } from '../harness/checked-api.js';
import type { TestServer } from '../harness/server.js';
import { seeded, type Random } from '../http/malformed-requests.js';
import { changesOf, type ModelCondition, type ModelSpan } from './model.js';

const MEASURES = ['count', 'error_count', 'error_rate', 'cost', 'duration_p50', 'duration_p95', 'score_mean'];
/** Thresholds that values of the histories lie around. */
const AROUND: Readonly<Record<string, readonly number[]>> = {
  count: [0, 1, 2, 5, 12],
  error_count: [0, 1, 2, 4],
  error_rate: [0, 0.2, 0.5],
  cost: [0, 1, 4, 20],
  duration_p50: [100, 300, 500],
  duration_p95: [300, 600, 900],
  score_mean: [0.2, 0.5, 0.8],
};
const WINDOWS = [60, 120, 360, 720, 1440, 4320, 10_080];

/** Spans in bursts, some sent again with other values, some deleted: what is left of them. */
export async function history(server: TestServer, seed: number, count: number): Promise<ModelSpan[]> {
  const random = seeded(seed);
  const now = Date.now() * 1000;
  const ids = Array.from({ length: count }, () => randomUUID());
  const left = new Map<string, ModelSpan>();
  const spanOf = (): ModelSpan => ({
    // Of the last 31 days, most of them close to others.
    at: now - Math.floor((random() < 0.7 ? random() * 3 : random() * 31) * 86_400) * 1e6 - 3600e6,
    name: random() < 0.5 ? 'plan' : 'answer',
    error: random() < 0.3,
    cost: random() < 0.2 ? null : Math.floor(random() * 8),
    duration: random() < 0.1 ? null : Math.floor(random() * 1000),
    score: random() < 0.4 ? null : random() < 0.5 ? 1 : 0.25,
  });
  const rowOf = (id: string, { at, name, error, cost, duration }: ModelSpan): Row => ({
    ...{ id, trace_id: id, name, started_at: new Date(at / 1000).toISOString(), cost },
    ...{ status: error ? 'error' : 'ok', duration_ms: duration },
    ...(duration !== null && { ended_at: new Date(at / 1000 + duration).toISOString() }),
  });
  const send = async (some: readonly string[]) => {
    for (const id of some) left.set(id, spanOf());
    const rows = some.map((id) => rowOf(id, left.get(id) as ModelSpan));
    expect((await server.request('POST', '/spans', { body: rows })).status).to.equal(200);
  };
  await send(ids);
  await send(ids.filter(() => random() < 0.2));
  for (const id of ids.filter(() => random() < 0.03)) {
    expect((await server.request('DELETE', `/spans/${id}`)).status).to.equal(204);
    left.delete(id);
  }
  const scores = [...left].flatMap(([id, { score }]) =>
    score === null ? [] : [{ entity_type: 'span', entity_id: id, name: 'quality', value: score }],
  );
  const posted = await server.request('POST', '/scores', { body: scores });
  expect(posted.status, posted.text).to.be.within(200, 204);
  return [...left.values()];
}

export function condition(random: Random): ModelCondition {
  const one = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
  const measure = one(MEASURES);
  const operator = one(['above', 'below'] as const);
  const isRatio = random() < 0.3;
  const threshold = isRatio ? one([0.5, 1, 1.5, 2]) : one(AROUND[measure] ?? [1]);
  return {
    ...{ measure, operator, threshold, window_minutes: one(WINDOWS) },
    ...(measure === 'score_mean' && { score: 'quality' }),
    ...(isRatio && { compared_with: 'previous_window' }),
    ...(random() < 0.5 && { recovery_threshold: threshold * (operator === 'above' ? 0.5 : 1.5) }),
    ...(random() < 0.4 && { minimum_count: one([1, 2, 5]) }),
    query: one(['names=plan,answer', 'names=plan', 'names=answer']),
  };
}

/** Compares what a test of a condition says with a recount. */
export async function compare(server: TestServer, spans: readonly ModelSpan[], asked: ModelCondition): Promise<Row> {
  const path = `/projects/${server.projectId}/monitors:test`;
  const { status, json, text } = await server.request('POST', path, { body: asked });
  expect(status, text).to.equal(200);
  const [from, to] = [microsOf(json.from), microsOf(json.to)];
  const step = (to - from) / (json.checks - 1);
  const moments = Array.from({ length: json.checks }, (_, index) => from + index * step);
  const { changes, fired } = changesOf(spans, asked, moments);
  const shown = JSON.stringify(asked);
  expect(json.fired, shown).to.equal(fired);
  const newest = changes.slice(-200).reverse();
  const found = json.changes as Row[];
  expect(
    found.map(({ at, state, count }) => [microsOf(at), state, count]),
    shown,
  ).to.deep.equal(newest.map(({ at, state, count }) => [at, state, count]));
  for (const [index, { value }] of newest.entries())
    if (value === null) expect(found[index]?.['value'], shown).to.equal(null);
    else expect(found[index]?.['value'], shown).to.be.closeTo(value, 1e-9);
  return json as Row;
}

const microsOf = (time: string) => Date.parse(`${time.slice(0, 19)}Z`) * 1000 + Number(time.slice(20, 26));
