import { textOf } from '../members.js';
import type { SentRequest, Step } from '../step.js';
import type { LangfuseApi, PageRead } from './api.js';
import type { Thing } from './shapes.js';

const MAX_ROWS = 5000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** A page of datasets with their items: each becomes a dataset with a version that has all of them. */
export async function datasetSteps(api: LangfuseApi, page: string | null): Promise<PageRead> {
  const { things, next } = await api.page('/api/public/v2/datasets', {}, page ?? '1');
  return { steps: steps(api, things), next, read: 0 };
}

async function* steps(api: LangfuseApi, datasets: readonly Thing[]): AsyncGenerator<Step> {
  for (const dataset of datasets) {
    const name = textOf(dataset['name']) ?? '';
    const description = textOf(dataset['description']);
    const body = { name, ...(description !== null && { description }), roles: ROLES };
    yield { type: 'request', request: creation(name, JSON.stringify(body)) };
    yield* itemSteps(api, name);
  }
}

const ROLES = { input: 'input', expected_output: 'expected', metadata: 'metadata' };

function creation(name: string, body: string): SentRequest {
  return {
    ...{ path: '/v1/datasets', body, tally: {}, name: `dataset ${name}`, alone: true },
    // It is there already.
    accepts: [409],
  };
}

async function* itemSteps(api: LangfuseApi, name: string): AsyncGenerator<Step> {
  let rows: object[] = [];
  let characters = 0;
  let page: string | null = '1';
  while (page !== null) {
    const found = await api.page('/api/public/dataset-items', { datasetName: name }, page);
    for (const item of found.things) {
      const id = textOf(item['id']);
      const isActive = item['status'] !== 'ARCHIVED';
      if (id === null || !isActive) {
        const why = isActive ? 'it has no id' : 'archived items of datasets are not imported';
        yield { type: 'left', left: { what: `item ${id ?? ''} of ${name}`, why } };
        continue;
      }
      const row = rowOf(id, item);
      rows.push(row);
      characters += JSON.stringify(row).length;
      if (rows.length < MAX_ROWS && characters < MAX_CHARACTERS) continue;
      yield rowStep(name, rows);
      [rows, characters] = [[], 0];
    }
    page = found.next;
  }
  if (rows.length > 0) yield rowStep(name, rows);
}

function rowOf(id: string, { input, expectedOutput, metadata, sourceTraceId, sourceObservationId }: Thing): object {
  return {
    ...{ row_id: id, input: input ?? null, expected_output: expectedOutput ?? null, metadata: metadata ?? null },
    ...(textOf(sourceTraceId) !== null && { source_trace_id: sourceTraceId }),
    ...(textOf(sourceObservationId) !== null && { source_observation_id: sourceObservationId }),
  };
}

function rowStep(dataset: string, rows: readonly object[]): Step {
  const path = `/v1/datasets/${dataset.split('/').map(encodeURIComponent).join('/')}/versions`;
  const body = JSON.stringify({ rows, mode: 'merge', message: 'Imported from Langfuse' });
  const name = `${rows.length} items of dataset ${dataset}`;
  return { type: 'request', request: { path, body, tally: { rows: rows.length }, name, alone: true } };
}
