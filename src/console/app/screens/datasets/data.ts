import type { Static } from '@sinclair/typebox';
import type { DatasetRead, DiffRead, ListedVersionRead, RowPage } from '../../../../features/datasets/schema.js';
import { call, callPage, pathOf, type ListPage } from '../../state/api.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { changedAt, queries, useQuery, type Answer } from '../../state/query.js';

export type Dataset = Static<typeof DatasetRead>;
export type Version = Static<typeof ListedVersionRead>;
export type Diff = Static<typeof DiffRead>;
type Rows = Static<typeof RowPage>;

/** All that is asked of datasets has a key that begins so. */
export const DATASETS = '/v1/datasets';
/** Most versions that one call answers. */
export const MAX_VERSIONS = 200;
export const ROWS_SHOWN = 50;

export function datasetsChanged(): Promise<void> {
  return changedAt(DATASETS);
}

/** Shows a dataset under its new name at once, and asks for nothing under the old one, which the server answers with 404. */
export async function datasetRenamed(from: string, dataset: Dataset): Promise<void> {
  const queryKey = [place.value.project, DATASETS];
  await queries.invalidateQueries({ queryKey, refetchType: 'none' });
  queries.setQueryData([...queryKey, dataset.name], dataset);
  navigate(hrefOf({ screen: 'datasets', id: dataset.name }), { replace: true });
  await queries.refetchQueries({ queryKey, type: 'active', predicate: (query) => query.queryKey[2] !== from });
}

export function pathOfDataset(name: string): string {
  return pathOf('GET /v1/datasets/:name+', { params: { name } });
}

export function useDatasets(query: { readonly q?: string; readonly limit: number; readonly offset?: number }) {
  return useQuery<ListPage<Dataset>>({
    key: [DATASETS, query],
    ask: (signal) => callPage('GET /v1/datasets', { query, signal }),
  });
}

export function useDataset(name: string): Answer<Dataset> {
  return useQuery({
    key: [DATASETS, name],
    ask: (signal) => call('GET /v1/datasets/:name+', { params: { name }, signal }),
  });
}

/** Versions, newest first. */
export function useVersions(name: string, offset = 0): Answer<Version[]> {
  return useQuery({
    key: [DATASETS, name, 'versions', offset],
    ask: (signal) =>
      call('GET /v1/datasets/:name+/versions', {
        params: { name },
        query: { limit: MAX_VERSIONS, offset },
        signal,
      }),
  });
}

export function useTags(name: string) {
  return useQuery({
    key: [DATASETS, name, 'tags'],
    ask: (signal) => call('GET /v1/datasets/:name+/tags', { params: { name }, signal }),
  });
}

/** A page of a version's rows. Of large ones the server answers fewer than asked for: then it is asked for the others. */
export function useRows(name: string, version: number, offset: number): Answer<Rows> {
  return useQuery({
    key: [DATASETS, name, 'rows', version, offset],
    async ask(signal) {
      const ask = (from: number, limit: number) =>
        call('GET /v1/datasets/:name+/data', {
          params: { name },
          query: { ref: String(version), offset: from, limit },
          signal,
        });
      const page = await ask(offset, ROWS_SHOWN);
      const rows = [...page.rows];
      const due = Math.min(ROWS_SHOWN, page.total_rows - offset);
      while (rows.length < due) {
        const more = await ask(offset + rows.length, due - rows.length);
        if (more.rows.length === 0) break;
        rows.push(...more.rows);
      }
      return { ...page, rows };
    },
    enabled: version > 0,
    keptMs: 60_000,
  });
}

interface ChangesAsked {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly offset: number;
  readonly enabled: boolean;
}

/** A page of the rows that differ between two versions. */
export function useChanges({ name, from, to, offset, enabled }: ChangesAsked): Answer<Diff> {
  return useQuery({
    key: [DATASETS, name, 'diff', from, to, offset],
    ask: (signal) =>
      call('GET /v1/datasets/:name+/diff', {
        params: { name },
        query: { from: String(from), to: String(to), offset, limit: ROWS_SHOWN },
        signal,
      }),
    enabled,
    keptMs: 60_000,
  });
}
