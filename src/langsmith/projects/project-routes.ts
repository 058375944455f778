import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { optional } from '../../engine/schema/inputs.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../engine/timestamp.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { MAX_REPETITION } from '../../engine/traces/model/experiment/mark.js';
import { ANY, type Experiment } from '../../features/experiments/experiment.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import { ExperimentDescription, ExperimentName } from '../../features/experiments/schema.js';
import { page } from '../../http/page.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { asObject } from '../../facade/json.js';
import { BASE, TAG } from '../tag.js';
import type { TracingProjects } from './tracing-projects.js';

export interface ProjectParts {
  readonly experiments: Pick<
    ExperimentService,
    'create' | 'find' | 'listed' | 'list' | 'change' | 'setStatus' | 'remove'
  >;
  readonly tracing: TracingProjects;
  readonly lists: Pick<Lists, 'traces'>;
}

const metadata = Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON.' });
const ProjectRead = Type.Object(
  {
    id: uuid('Id of the experiment, or made of the name.'),
    name: Type.String({ description: 'Name of the experiment, or value of the tag `project`.' }),
    description: orNull(Type.String({ description: 'What runs, and why.' })),
    tenant_id: uuid('Id of the project.'),
    reference_dataset_id: orNull(uuid('Dataset of the experiment; null: not an experiment.')),
    start_time: time('When the experiment was created.'),
    end_time: orNull(time('When it was finished.')),
    extra: metadata,
  },
  {
    $id: 'LangsmithProject',
    description: 'An experiment, or a value of the tag `project`, as clients of LangSmith read it.',
  },
);
type ProjectRead = Static<typeof ProjectRead>;

const ProjectInput = Type.Object(
  {
    name: ExperimentName,
    description: optional(ExperimentDescription),
    reference_dataset_id: optional(uuid('Dataset of the experiment; absent: not an experiment.')),
    extra: optional(metadata),
    num_repetitions: optional(
      Type.Unknown({ description: `How often each example is evaluated, up to ${MAX_REPETITION}.` }),
    ),
    id: optional(Type.Unknown({ description: 'Ignored.' })),
    start_time: optional(Type.Unknown({ description: 'Ignored.' })),
  },
  { $id: 'LangsmithProjectInput', description: 'An experiment, or a value of the tag `project`.' },
);

const ProjectPatch = Type.Object(
  {
    name: optional(ExperimentName),
    description: optional(ExperimentDescription),
    extra: optional(metadata),
    end_time: optional(
      Type.Union([Type.String(), Type.Number()], { description: 'If given, the experiment is finished.' }),
    ),
  },
  { $id: 'LangsmithProjectPatch', description: 'What to change; absent fields stay.' },
);

/** What LangSmith calls projects, and in paths sessions: experiments, and values of the tag `project`. */
export function projectRoutes(parts: ProjectParts) {
  return [createRoute(parts), listRoute(parts), getRoute(parts), changeRoute(parts), deleteRoute(parts)];
}

function createRoute({ experiments, tracing }: ProjectParts) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/sessions`,
    operationId: 'createLangsmithProject',
    scopes: ['datasets:write'],
    summary: 'Create an experiment (LangSmith)',
    description:
      'Creates an experiment on the newest version of the dataset. Without a dataset, nothing is created: runs of the project get the ' +
      'tag `project` with its name.',
    tag: TAG,
    access: 'key',
    query: queryOf(Type.Object({ upsert: Type.Optional(Type.Boolean({ description: 'Without effect.' })) })),
    body: jsonBody(ProjectInput, { lenient: true }),
    responses: { 200: { description: 'The project.', schema: ProjectRead } },
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    handle({ principal, body: { name, description, reference_dataset_id: dataset, extra, num_repetitions } }) {
      const projectId = principal.project_id;
      if (dataset == null) return { status: 200, body: tracingProject(tracing, projectId, name) };
      const created = experiments.create(principal, {
        ...{ name, dataset, parameters: extra ?? {}, description: description ?? null },
        repetitions: repetitionsIn(num_repetitions),
      });
      return { status: 200, body: toRead(projectId, created) };
    },
  });
}

const text = (description: string) => Type.Optional(Type.String({ maxLength: 10_000, description }));
const ListQuery = queryOf(
  Type.Object({
    name: text('Only projects with this name.'),
    name_contains: text('Only experiments whose name contains this.'),
    id: Type.Optional(csv(uuid('Id of a project.'), { maxItems: 100, description: 'Only these projects.' })),
    reference_dataset: Type.Optional(
      csv(uuid('Id of a dataset.'), { maxItems: 1, description: 'Only experiments of this dataset.' }),
    ),
    reference_free: Type.Optional(Type.Boolean({ description: 'If true, no experiments.' })),
    include_stats: Type.Optional(Type.Boolean({ description: 'Without effect.' })),
    dataset_version: text('Without effect.'),
    metadata: text('Without effect.'),
    ...page({ maxLimit: 100, defaultLimit: 100 }),
  }),
);

/** The project of LangSmith that runs belong to which name none. */
const DEFAULT = 'default';

function listRoute(parts: ProjectParts) {
  const { experiments, tracing } = parts;
  return defineRoute({
    method: 'GET',
    path: `${BASE}/sessions`,
    operationId: 'listLangsmithProjects',
    scopes: ['spans:read', 'datasets:read'],
    summary: 'List experiments (LangSmith)',
    description:
      'Lists experiments, newest first, and the project `default`. Asked by name, a value of the tag `project` is found as well.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: ListQuery,
    responses: { 200: { description: 'The projects.', schema: Type.Array(ProjectRead) } },
    errors: ['unavailable'],
    async handle({ principal: { project_id: projectId }, query, signal }) {
      const { name, name_contains, id, reference_dataset, reference_free, limit, offset } = query;
      if (id !== undefined) {
        const found = id.flatMap((each) => existing(parts, projectId, each));
        return { status: 200, body: found.slice(offset, offset + limit) };
      }
      const filter = { ...ANY, name: name ?? null, q: name_contains ?? null, dataset: reference_dataset?.[0] ?? null };
      const found =
        reference_free === true ? [] : await experiments.listed(projectId, filter, { limit, offset }, signal);
      const read = found.map((experiment) => toRead(projectId, experiment));
      if (read.length > 0 || offset > 0 || reference_dataset !== undefined || name_contains !== undefined)
        return { status: 200, body: read };
      const asked = name ?? DEFAULT;
      const isThere = asked === DEFAULT || (await tracing.has(projectId, asked, signal));
      return { status: 200, body: isThere ? [tracingProject(tracing, projectId, asked)] : [] };
    },
  });
}

const Params = Type.Object({ experiment_id: uuid('Id of the project.') });
const one = { tag: TAG, access: 'key', params: Params } as const;

function getRoute(parts: ProjectParts) {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/sessions/:experiment_id`,
    operationId: 'getLangsmithProject',
    scopes: ['datasets:read'],
    summary: 'Get an experiment (LangSmith)',
    description: 'Returns an experiment, or a project that was listed before.',
    query: queryOf(
      Type.Object({
        include_stats: Type.Optional(Type.Boolean({ description: 'Without effect.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Without effect.' })),
      }),
    ),
    responses: { 200: { description: 'The project.', schema: ProjectRead } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      const [found] = existing(parts, principal.project_id, params.experiment_id);
      if (found === undefined) throw new DomainError('not_found', 'There is no project with this id');
      return { status: 200, body: found };
    },
  });
}

function changeRoute({ experiments }: ProjectParts) {
  return defineRoute({
    ...one,
    method: 'PATCH',
    path: `${BASE}/sessions/:experiment_id`,
    operationId: 'updateLangsmithProject',
    scopes: ['datasets:write'],
    summary: 'Change or finish an experiment (LangSmith)',
    description:
      'Changes name and description, and finishes the experiment with `end_time`, or with the `dataset_version` that clients add to ' +
      'the metadata at the end of an evaluation.',
    body: jsonBody(ProjectPatch, { lenient: true }),
    responses: { 200: { description: 'The experiment.', schema: ProjectRead } },
    errors: ['not_found', 'invalid', 'unavailable'],
    handle({ principal: { project_id: projectId }, params: { experiment_id: id }, body }) {
      const { name, description, end_time, extra } = body;
      const metadata = asObject(extra?.['metadata']);
      const patch = { name: name ?? null, description: description ?? null };
      const repetitions = repetitionsIn(metadata?.['num_repetitions']);
      const changed = experiments.change(projectId, id, { ...patch, repetitions }, true);
      const isOver = end_time != null || metadata?.['dataset_version'] !== undefined;
      const isRunning = changed.status === 'running' || changed.status === 'expired';
      const left = isOver && isRunning ? experiments.setStatus(projectId, id, 'finished', null) : changed;
      return { status: 200, body: toRead(projectId, left) };
    },
  });
}

function deleteRoute({ experiments }: ProjectParts) {
  return defineRoute({
    ...one,
    method: 'DELETE',
    path: `${BASE}/sessions/:experiment_id`,
    operationId: 'deleteLangsmithProject',
    scopes: ['datasets:write'],
    summary: 'Delete an experiment (LangSmith)',
    description: 'Deletes an experiment with its results.',
    responses: { 204: { description: 'The experiment is deleted.' } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { experiment_id: id } }) {
      await experiments.remove(principal, id);
      return { status: 204 };
    },
  });
}

/** Null: nothing is said that an experiment may have. */
function repetitionsIn(said: unknown): number | null {
  const isOne = typeof said === 'number' && Number.isInteger(said) && said >= 1;
  return isOne ? Math.min(said, MAX_REPETITION) : null;
}

/** An experiment, or a project whose name is known. */
function existing({ experiments, tracing }: ProjectParts, projectId: string, id: string): ProjectRead[] {
  const name = tracing.nameOf(projectId, id);
  if (name !== null) return [tracingProject(tracing, projectId, name)];
  try {
    return [toRead(projectId, experiments.find(projectId, id))];
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return [];
    throw error;
  }
}

function tracingProject(tracing: TracingProjects, projectId: string, name: string): ProjectRead {
  return {
    ...{ id: tracing.idOf(projectId, name), name, description: null, tenant_id: projectId, reference_dataset_id: null },
    ...{ start_time: formatTimestamp(0), end_time: null, extra: {} },
  };
}

function toRead(
  projectId: string,
  { id, name, description, dataset, created_at, finished_at, parameters }: Experiment,
): ProjectRead {
  return {
    ...{ id, name, description, tenant_id: projectId, reference_dataset_id: dataset.id },
    ...{ start_time: formatTimestamp(created_at), end_time: formatOptionalTimestamp(finished_at) },
    extra: { ...parameters },
  };
}
