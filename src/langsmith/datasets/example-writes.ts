import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { inPortions } from '../../engine/work/portions.js';
import type { Dataset, DatasetVersion } from '../../features/datasets/dataset.js';
import { attachedTo, COLUMN } from './attachments.js';
import type { LangsmithDatasets } from './dataset-routes.js';
import type { SentExample } from './examples.js';

/** Most bytes of rows that one request changes: it is small itself, but what stays of them is read, too. */
const MAX_CHANGED_MB = 32;
const MESSAGE = 'From a client of LangSmith';

/** Other requests may change the dataset so many times while one reads what it changes. */
const MAX_READ = 5;

/** Stores what is new of examples, as one version of the dataset. @throws DomainError `not_found`, `too_large`, `conflict` */
export async function change(
  datasets: LangsmithDatasets,
  by: Principal,
  { id }: Dataset,
  sent: readonly SentExample[],
): Promise<DatasetVersion> {
  for (let read = 1; ; read += 1) {
    const dataset = datasets.find(by.project_id, id);
    const changed = await changedExamples(datasets, dataset, sent);
    try {
      return await merge(datasets, by, dataset, changed, { base: dataset.last_version });
    } catch (error) {
      const isChanged = datasets.find(by.project_id, id).last_version !== dataset.last_version;
      if (!isChanged || read === MAX_READ) throw error;
    }
  }
}

/** Rows with what is new of them. */
async function changedExamples(
  datasets: LangsmithDatasets,
  dataset: Dataset,
  sent: readonly SentExample[],
): Promise<SentExample[]> {
  const place = { id: dataset.id, number: datasets.newest(dataset)?.number ?? 0 };
  let bytes = 0;
  await inPortions(sent, (portion) => {
    for (const size of datasets.rowSizes(place, idsOf(portion)).values()) bytes += size;
    if (bytes > MAX_CHANGED_MB * 1024 * 1024)
      throw new DomainError('too_large', `The examples have more than ${MAX_CHANGED_MB} MB: change fewer at once`);
  });
  const whole = new Map<string, SentExample>();
  await inPortions(sent, (portion) => {
    const known = datasets.namedRows(place, idsOf(portion));
    for (const each of portion) {
      const row = known.get(each.id);
      if (row === undefined) throw new DomainError('not_found', `The dataset has no example ${each.id}`);
      const before = whole.get(each.id)?.columns ?? (JSON.parse(row) as Record<string, unknown>);
      const { columns, ...rest } = withFiles(each, before[COLUMN]);
      whole.set(each.id, { ...rest, columns: { ...before, ...columns } });
    }
  });
  return [...whole.values()];
}

/** An example with what its row says of its files. @param before what it said */
export function withFiles(example: SentExample, before: unknown): SentExample {
  const { columns, files, operations } = example;
  if (files.size === 0 && operations === null) return example;
  return { ...example, columns: { ...columns, [COLUMN]: attachedTo(before, { files, operations }) } };
}

export const idsOf = (examples: readonly SentExample[]) => examples.map(({ id }) => id);

/**
 * Stores examples as one version of the dataset.
 * @param options `remove`: ids of those that it is not to have; `base`: the version that it follows
 */
export async function merge(
  datasets: LangsmithDatasets,
  by: Principal,
  { id }: Dataset,
  examples: readonly SentExample[],
  { remove = [], base }: { readonly remove?: readonly string[]; readonly base?: number } = {},
): Promise<DatasetVersion> {
  const rows: string[] = [];
  await inPortions(examples, (portion) => {
    for (const { id: row_id, columns } of portion) rows.push(JSON.stringify({ ...columns, row_id }));
  });
  const given = { ...(remove.length > 0 && { remove }), ...(base !== undefined && { base_version: base }) };
  const options = JSON.stringify({ mode: 'merge', message: MESSAGE, ...given });
  const bytes = Buffer.from(`{"rows":[${rows.join(',')}],${options.slice(1)}`);
  return datasets.upload(by, id, { format: 'json', bytes, mode: 'merge', message: MESSAGE });
}
