import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { DomainError } from '../../engine/errors.js';
import { invalid } from '../../engine/validation/validation.js';
import { withTurns } from '../../engine/work/portions.js';
import { asObject } from '../../facade/json.js';
import { PAGE_BYTES } from '../../features/datasets/dataset.js';
import type { RowFiles } from '../../features/images/row-files.js';
import type { LangsmithDatasets } from './dataset-routes.js';
import { exampleIn } from './example-finder.js';
import { metadataOf, splitsOf, toExampleRead, type ExampleRead, type RowOf } from './examples.js';

/** Longest time that rows are read before other requests get a turn. */
const MAX_TURN_MS = 10;

/** Rows of any datasets, of about so many bytes as a page has. */
export async function foundAnywhere(
  datasets: LangsmithDatasets,
  projectId: string,
  ids: readonly string[],
  files: RowFiles,
): Promise<ExampleRead[]> {
  const found: ExampleRead[] = [];
  let characters = 0;
  for await (const id of withTurns(ids)) {
    const each = exampleIn(datasets, projectId, id);
    if (each === null) continue;
    found.push(toExampleRead(each.place, each.row, files));
    requireSize((characters += each.row.content.length));
  }
  return found;
}

/** Rows of one version, of which no more are read than a page has. */
export function namedPage(
  datasets: LangsmithDatasets,
  row: RowOf,
  { ids, limit, offset }: { readonly ids: readonly string[]; readonly limit: number; readonly offset: number },
  files: RowFiles,
): ExampleRead[] {
  const place = { id: row.dataset.id, number: row.version.number };
  const sizes = datasets.rowSizes(place, ids);
  const wanted = ids.filter((each) => sizes.has(each)).slice(offset, offset + limit);
  requireSize(wanted.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0));
  const rows = datasets.namedRows(place, wanted);
  return wanted.flatMap((id) => {
    const content = rows.get(id);
    return content === undefined ? [] : [toExampleRead(row, { row_id: id, content }, files)];
  });
}

/** Clients take a page of fewer than they asked for as the last. @throws DomainError `too_large` */
function requireSize(characters: number): void {
  if (characters > PAGE_BYTES) throw tooLarge();
}

const tooLarge = () =>
  new DomainError('too_large', `The examples of this page have more than ${PAGE_BYTES} bytes: set a smaller limit`);

/** Rows of one version in their order, those of some splits and metadata alone. @throws DomainError `too_large`, `invalid` */
export async function pageOf(
  datasets: LangsmithDatasets,
  row: RowOf,
  {
    splits,
    metadata,
    limit,
    offset,
  }: { splits?: string[] | undefined; metadata?: string | undefined; limit: number; offset: number },
  files: RowFiles,
): Promise<ExampleRead[]> {
  if (splits === undefined && metadata === undefined) {
    const { rows } = datasets.rows(row.version, { limit, offset });
    if (rows.length < Math.min(limit, row.version.row_count - offset)) throw tooLarge();
    return rows.map((each) => toExampleRead(row, each, files));
  }
  const wanted = metadata === undefined ? {} : objectIn(metadata);
  const found: ExampleRead[] = [];
  let [passed, characters] = [0, 0];
  let began = performance.now();
  for (const each of datasets.allRows(row.projectId, row.version)) {
    if (performance.now() - began > MAX_TURN_MS) {
      await nextTurn();
      began = performance.now();
    }
    const columns = JSON.parse(each.content) as Record<string, unknown>;
    const own = metadataOf(columns);
    const fits =
      (splits === undefined || splitsOf(columns).some((split) => splits.includes(split))) &&
      Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(own[name], value));
    if (!fits) continue;
    passed += 1;
    if (passed <= offset) continue;
    requireSize((characters += each.content.length));
    found.push(toExampleRead(row, each, files));
    if (found.length === limit) break;
  }
  return found;
}

function objectIn(json: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  const object = asObject(value);
  if (object === undefined) throw invalid([{ pointer: '?metadata', detail: 'must be a JSON object' }]);
  return object;
}
