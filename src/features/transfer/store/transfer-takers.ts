import type { Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import { importedPeople, type Person } from '../../../engine/identity/store/imported-people.js';
import type { MetadataPart } from '../parts.js';
import { datasetTakers } from './dataset-takers.js';
import { experimentTakers } from './experiment-takers.js';
import { feedbackTakers } from './feedback-takers.js';
import type { HeldRows } from './held-rows.js';
import { insertion } from './insertion.js';
import { judgeTakers } from './judge-takers.js';
import { pinTakers } from './pin-takers.js';
import { promptTakers } from './prompt-takers.js';
import { text, type By, type Take, type Values } from './take.js';

/** How the records of each part are stored. */
export function takers(db: Database, held: HeldRows): Readonly<Record<MetadataPart, Take>> {
  const person = importedPeople(db);
  const by = (projectId: string, value: unknown) => person(projectId, value as Person);
  return {
    ...promptTakers(db, by),
    ...judgeTakers(db, by),
    ...feedbackTakers(db, by),
    comments: commentTaker(db, by),
    prices: priceTaker(db),
    score_definitions: definitionTaker(db),
    ...viewTakers(db, by),
    ...datasetTakers(db, by, held),
    ...experimentTakers(db, by),
    ...pinTakers(db),
  };
}

function commentTaker(db: Database, by: By): Take {
  const comment = insertion(
    db,
    'comments',
    ['id', 'project_id', 'trace_id', 'span_id', 'user_id', 'text', 'created_at', 'edited_at'],
    'project_id',
    { after_deletion: LAST_DELETION },
  );
  return (projectId, { created_by, ...record }) =>
    comment(record['id'], projectId, () => ({ ...record, user_id: by(projectId, created_by) }));
}

function priceTaker(db: Database): Take {
  const insert = db.prepare<Values>(
    `INSERT INTO model_prices (project_id, provider, model, input_per_million, output_per_million, cache_read_per_million,
       created_at, updated_at)
     VALUES (@project_id, @provider, @model, @input_per_million, @output_per_million, @cache_read_per_million,
       @created_at, @updated_at)
     ON CONFLICT DO NOTHING`,
  );
  return (projectId, record) => insert.run({ ...record, project_id: projectId }).changes > 0;
}

function definitionTaker(db: Database): Take {
  const insert = db.prepare<Values>(
    `INSERT INTO score_definitions (project_id, name, kind, min, max, categories, direction, description, created_at, updated_at)
     VALUES (@project_id, @name, @kind, @min, @max, @categories, @direction, @description, @created_at, @updated_at)
     ON CONFLICT DO NOTHING`,
  );
  const absent = { min: null, max: null, categories: null, direction: null, description: null };
  return (projectId, record) => {
    const categories = text(record['categories'] ?? null);
    return insert.run({ ...absent, ...record, categories, project_id: projectId }).changes > 0;
  };
}

function viewTakers(db: Database, by: By) {
  const shared = ['id', 'project_id', 'name', 'created_at', 'created_by', 'updated_at'];
  const view = insertion(db, 'saved_views', [...shared, 'list', 'query', 'columns'], 'project_id');
  const dashboard = insertion(db, 'dashboards', [...shared, 'window', 'charts', 'version'], 'project_id');
  return {
    saved_views: (projectId, record) =>
      view(record['id'], projectId, () => ({
        ...record,
        columns: text(record['columns']),
        created_by: by(projectId, record['created_by']),
      })),
    dashboards: (projectId, record) =>
      dashboard(record['id'], projectId, () => ({
        ...record,
        charts: text(record['charts']),
        created_by: by(projectId, record['created_by']),
      })),
  } satisfies Partial<Record<MetadataPart, Take>>;
}
