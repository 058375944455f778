import { DomainError, type Issue } from '../../engine/errors.js';
import { chatRole } from '../../engine/models/chat-role.js';
import { MESSAGE_ROLES } from '../../engine/models/model-client.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import { invalid } from '../../engine/validation/validation.js';
import type { JobRunner } from '../../engine/work/job-runner.js';
import { withTurns } from '../../engine/work/portions.js';
import { NO_ENDPOINT } from '../calibration/calibration-service.js';
import type { Dataset, DatasetVersion } from '../datasets/dataset.js';
import type { DatasetService } from '../datasets/dataset-service.js';
import type { ExperimentService, MeasuredExperiment } from '../experiments/experiment-service.js';
import { MAX_NAME } from '../experiments/schema.js';
import { estimatedCost } from '../judges/estimated-cost.js';
import { NO_MODEL } from '../optimization/optimization-service.js';
import { placeholdersOf } from '../optimization/placeholders.js';
import { LATEST } from '../prompts/prompt.js';
import { placesIn, textWithVariables, type Template } from '../prompts/prompt-messages.js';
import type { PromptService } from '../prompts/prompt-service.js';
import { EXPECTED_OUTPUT_TOKENS, inputTokensOf } from './expected-cost.js';
import { EXPERIMENT_RUN } from './run-jobs.js';
import { isTried, RowRequests, type RunPlan, type RunRows, type RunSummary } from './run-plan.js';
import { MAX_RUN_RESULTS, type RunEstimate, type RunInput } from './schema.js';

export interface RunServiceParts {
  readonly experiments: Pick<ExperimentService, 'create' | 'pin' | 'get'>;
  readonly datasets: Pick<DatasetService, 'find' | 'version' | 'rowSizes' | 'rowIds' | 'namedRows'>;
  readonly prompts: Pick<PromptService, 'find'>;
  readonly price: PriceModelCall;
  readonly runner: Pick<JobRunner, 'create'>;
  /** Stores all that is stored meanwhile, or nothing of it. */
  readonly together: <T>(store: () => T) => T;
  /** The model endpoint; null: none is configured. */
  readonly endpoint: { readonly defaultModel: string | null } | null;
}

/** Rows whose requests the estimate is made of. */
const ESTIMATED_BY = 20;

/** A run that fits together. */
interface Planned {
  readonly plan: RunPlan;
  readonly version: DatasetVersion;
  /** Rows that are tried. */
  readonly rows: number;
  readonly repetitions: number;
}

/** Runs prompts and models on the rows of datasets: each run is an experiment, whose results a job makes. */
export class RunService {
  readonly #parts: RunServiceParts;

  constructor(parts: RunServiceParts) {
    this.#parts = parts;
  }

  /** What a run would come to. Asks no model. @throws DomainError as {@link start} does */
  async estimate({ project_id }: Principal, input: RunInput): Promise<RunEstimate> {
    const { plan, version, rows, repetitions } = this.#plan(project_id, input);
    const calls = rows * repetitions;
    const input_tokens = Math.round((await this.#inputTokens(plan, version)) * calls);
    const output_tokens = EXPECTED_OUTPUT_TOKENS * calls;
    const tokens = { input: input_tokens, output: output_tokens };
    return {
      ...{ model: plan.model, prompt_version: plan.prompt.version, dataset_version: version.number },
      ...{ rows, calls, input_tokens, output_tokens },
      ...estimatedCost(this.#parts.price, project_id, plan.model, tokens),
    };
  }

  /**
   * Creates the experiment together with the job that makes its results: no crash leaves one without the other.
   * @throws DomainError `not_found` for the dataset, the prompt or a version; `invalid`; `conflict` when no model can be asked, or too
   *   many jobs are unfinished
   */
  async start(principal: Principal, input: RunInput, signal?: AbortSignal): Promise<MeasuredExperiment> {
    const { experiments, together } = this.#parts;
    const { project_id } = principal;
    const planned = this.#plan(project_id, input);
    const id = together(() => this.#create(principal, input, planned));
    return experiments.get(project_id, id, signal);
  }

  #create(principal: Principal, input: RunInput, { plan, version, rows, repetitions }: Planned): string {
    const { experiments, runner } = this.#parts;
    const { project_id, user_id } = principal;
    const { prompt, model, temperature, max_cost } = plan;
    const { id } = experiments.create(principal, {
      name: input.name ?? `${prompt.slug} v${prompt.version}, ${model}`.slice(0, MAX_NAME).toWellFormed(),
      ...{ description: input.description ?? null, dataset: version.dataset_id, dataset_version: version.number },
      ...{ subject: { prompt_slug: prompt.slug, prompt_version: prompt.version, model }, repetitions },
      parameters: {
        ...(temperature !== null && { temperature }),
        ...(max_cost !== null && { max_cost }),
        ...(plan.rows !== null && { rows: typeof plan.rows === 'number' ? plan.rows : plan.rows.length }),
      },
    });
    const summary: RunSummary = { rows, max_cost };
    const job = { project_id, kind: EXPERIMENT_RUN, subject_id: id, created_by: user_id };
    runner.create({ ...job, summary, input: plan });
    for (const tag of input.tags ?? []) experiments.pin(principal, id, tag);
    return id;
  }

  #plan(projectId: string, input: RunInput): Planned {
    const { datasets, prompts, endpoint } = this.#parts;
    const dataset = datasets.find(projectId, input.dataset);
    const version = datasets.version(dataset, String(input.dataset_version ?? LATEST));
    if (input.prompt_version != null && input.prompt_tag != null)
      throw invalid([{ pointer: '/prompt_tag', detail: 'cannot be combined with prompt_version' }]);
    const by: Parameters<PromptService['find']>[2] =
      input.prompt_version != null
        ? { by: 'number', version: input.prompt_version }
        : { by: 'tag', tag: input.prompt_tag ?? LATEST };
    const prompt = prompts.find(projectId, input.prompt_slug, by);
    if (endpoint === null) throw new DomainError('conflict', NO_ENDPOINT);
    const model = input.model ?? prompt.model_id ?? endpoint.defaultModel;
    if (model === null) throw new DomainError('conflict', NO_MODEL);
    const chosen = this.#rows(version, input.rows ?? null);
    const { columns, issues } = columnsOf(prompt, dataset, version, input.variables ?? {});
    const repetitions = input.repetitions ?? 1;
    issues.push(...chosen.issues, ...sizeIssues(chosen.count, repetitions), ...roleIssues(prompt));
    const max_cost = input.max_cost ?? null;
    if (max_cost !== null) issues.push(...this.#priceIssues(projectId, model));
    if (issues.length > 0) throw invalid(issues);
    const { id, slug, version: number, messages } = prompt;
    const plan: RunPlan = {
      prompt: { id, slug, version: number, content: messages === null ? prompt.content : '', messages },
      ...{ model, temperature: input.temperature ?? null, columns, roles: dataset.roles, rows: chosen.rows, max_cost },
    };
    return { plan, version, rows: chosen.count, repetitions };
  }

  #rows(
    { dataset_id: id, number, row_count }: DatasetVersion,
    rows: string[] | number | null,
  ): { readonly rows: RunRows; readonly count: number; readonly issues: readonly Issue[] } {
    if (rows === null) return { rows, count: row_count, issues: [] };
    if (typeof rows === 'number') return { rows, count: Math.min(rows, row_count), issues: [] };
    const known = this.#parts.datasets.rowSizes({ id, number }, rows);
    const issues = rows.flatMap((row, index) =>
      known.has(row) ? [] : [{ pointer: `/rows/${index}`, detail: `is no row of version ${number} of the dataset` }],
    );
    return { rows: [...known.keys()], count: known.size, issues: issues.slice(0, 100) };
  }

  #priceIssues(projectId: string, model: string): Issue[] {
    const { cost_unknown_reason } = estimatedCost(this.#parts.price, projectId, model, { input: 1, output: 1 });
    return cost_unknown_reason === null
      ? []
      : [{ pointer: '/max_cost', detail: `cannot be kept: ${cost_unknown_reason}` }];
  }

  /** Input tokens of a call, by some of the rows. */
  async #inputTokens(plan: RunPlan, { dataset_id: id, number }: DatasetVersion): Promise<number> {
    const { datasets } = this.#parts;
    const tried = isTried(plan.rows);
    const sample: string[] = [];
    let index = 0;
    for (const portion of datasets.rowIds({ id, number })) {
      for (const { row_id } of portion) if (sample.length < ESTIMATED_BY && tried(row_id, index++)) sample.push(row_id);
      if (sample.length >= ESTIMATED_BY) break;
    }
    const requests = new RowRequests(plan);
    let tokens = 0;
    for await (const row of withTurns(sample)) {
      const content = datasets.namedRows({ id, number }, [row]).get(row);
      const request = content === undefined ? null : requests.of(content);
      // One that is too large is not asked.
      if (request !== null) tokens += inputTokensOf(request);
    }
    return tokens / Math.max(1, sample.length);
  }
}

function sizeIssues(rows: number, repetitions: number): Issue[] {
  if (rows === 0) return [{ pointer: '/dataset', detail: 'has no rows in this version' }];
  if (rows * repetitions <= MAX_RUN_RESULTS) return [];
  const detail = `would make ${rows * repetitions} calls of ${rows} rows: a run can make at most ${MAX_RUN_RESULTS}`;
  return [{ pointer: repetitions > 1 ? '/repetitions' : '/rows', detail }];
}

/** Roles that a model endpoint would not take. */
function roleIssues({ messages }: Template): Issue[] {
  const unknown = messages?.find((message) => 'role' in message && chatRole(message.role) === undefined);
  if (unknown === undefined || !('role' in unknown)) return [];
  const detail = `is of a prompt with a message of the role ${unknown.role}; a run can send ${MESSAGE_ROLES.join(', ')}`;
  return [{ pointer: '/prompt_slug', detail }];
}

/** The column of each variable, and what is wrong with them. */
function columnsOf(
  prompt: Template,
  { roles }: Dataset,
  { columns, number }: DatasetVersion,
  given: Readonly<Record<string, string>>,
): { readonly columns: Record<string, string>; readonly issues: Issue[] } {
  const wanted = [...new Set([...placeholdersOf(textWithVariables(prompt)), ...placesIn(prompt.messages ?? [])])];
  const issues: Issue[] = [];
  const found: [string, string][] = [];
  for (const variable of wanted) {
    const stated = Object.hasOwn(given, variable) ? given[variable] : undefined;
    const column = stated ?? variable;
    if (columns.includes(column) && (stated !== undefined || roles[column] !== 'expected'))
      found.push([variable, column]);
    else
      issues.push({
        pointer: `/variables/${pointerPart(variable)}`,
        detail: columns.includes(column)
          ? `is a column with the role expected: name it in variables to show it to the model`
          : `is a variable of the prompt, and version ${number} of the dataset has no column ${JSON.stringify(column)}`,
      });
  }
  for (const name of Object.keys(given))
    if (!wanted.includes(name))
      issues.push({ pointer: `/variables/${pointerPart(name)}`, detail: 'is no variable of the prompt' });
  return { columns: Object.fromEntries(found), issues: issues.slice(0, 100) };
}

const pointerPart = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
