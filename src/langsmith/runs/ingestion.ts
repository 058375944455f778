import { text } from 'node:stream/consumers';
import { DomainError, type Issue } from '../../engine/errors.js';
import { UUID } from '../../engine/schema/ids.js';
import { spanList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { byIds } from '../../engine/traces/model/list/one.js';
import type { PartialSpan } from '../../engine/traces/model/partial/partial-span.js';
import { inPortions } from '../../engine/work/portions.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import type { PartialIngest } from '../../features/traces/partial-ingest.js';
import { readDrafts } from '../../facade/parts.js';
import type { MappingLimits } from '../../otlp/span.js';
import { ownId } from '../ids.js';
import { placeOfRun } from './dotted-order.js';
import { checkedRun, draftOf, strayOf, type RunContext, type SentRun } from './read-runs.js';
import { MAX_TOGETHER, type Repetitions } from './repetitions.js';
import { RunIdentities } from './run-identities.js';
import type { Run } from './run-schema.js';

export interface RunParts {
  readonly partial: Pick<PartialIngest, 'store'>;
  readonly lists: Pick<Lists, 'spans'>;
  readonly experiments: Pick<ExperimentService, 'newestNamed'>;
  readonly repetitions: Repetitions;
  readonly limits: MappingLimits;
}

/** Runs of one request that do not say their trace: each is a read. Today's clients say it. */
const MAX_STRAYS = 100;

/**
 * Stores runs. Each is stored or refused alone.
 * @throws DomainError `invalid` with those that are refused, when all others are stored; those of WriteLog
 */
export async function storeRuns(projectId: string, sent: readonly SentRun[], parts: RunParts): Promise<void> {
  const checked = sent.map((each) => ({ sent: each, run: checkedRun(each) }));
  const runs = checked.flatMap(({ sent: { isPatch }, run }) => ('why' in run ? [] : [{ isPatch, run }]));
  const said = runs.map(({ run }) => run);
  const experimentOf = await experimentsOf(projectId, said, parts.experiments);
  const context: RunContext = {
    projectId,
    now: Date.now() * 1000,
    traces: await tracesOf(projectId, runs, parts.lists),
    experimentOf,
    repetitionOf: (...result) => parts.repetitions.of(projectId, ...result),
    identities: new RunIdentities(),
  };
  const why: (string | null)[] = checked.map(() => null);
  for (const { experiments, portion } of portionsOf(checked, experimentOf))
    await parts.repetitions.during(projectId, experiments, () => storePortion(portion, context, { parts, why }));
  requireAll(
    why.flatMap((rule, index) => (rule === null ? [] : [issueOf(sent[index]?.pointer ?? '', rule)])),
    sent.length,
  );
}

interface Checked {
  readonly sent: SentRun;
  readonly run: ReturnType<typeof checkedRun>;
}

/** Some runs of a request, by their places in it. */
type Portion = Map<number, Checked>;

interface RunPortion {
  readonly experiments: Set<string>;
  readonly portion: Portion;
}

/** Runs of so few experiments that these can be known together; what is said of one run stays together, as far as it can. */
function portionsOf(checked: readonly Checked[], experimentOf: RunContext['experimentOf']): RunPortion[] {
  const portions: RunPortion[] = [];
  const [ofRuns, ofExperiments] = [new Map<string, RunPortion>(), new Map<string, RunPortion>()];
  for (const [index, each] of checked.entries()) {
    const { run } = each;
    const isResult = !('why' in run) && run.reference_example_id != null;
    const experiment = isResult ? experimentOf(run) : null;
    const id = run.id.toLowerCase();
    const hasRoom = (into: RunPortion | undefined) =>
      into !== undefined &&
      (experiment === null || into.experiments.has(experiment) || into.experiments.size < MAX_TOGETHER);
    const asked = [ofRuns.get(id), ofExperiments.get(experiment ?? ''), portions.at(-1)];
    let into = asked.find(hasRoom);
    if (into === undefined) portions.push((into = { experiments: new Set(), portion: new Map() }));
    if (experiment !== null) ofExperiments.set(experiment, into);
    if (experiment !== null) into.experiments.add(experiment);
    ofRuns.set(id, into);
    into.portion.set(index, each);
  }
  return portions;
}

async function storePortion(
  portion: Portion,
  context: RunContext,
  { parts, why }: { readonly parts: RunParts; readonly why: (string | null)[] },
): Promise<void> {
  const places = [...portion.keys()];
  const read = await readDrafts(
    [...portion.values()],
    (each) => ('why' in each.run ? each.run : draftOf(each.sent, each.run, context)),
    parts.limits,
  );
  const toStore: { readonly index: number; readonly part: PartialSpan }[] = [];
  for (const [at, each] of read.entries()) {
    const index = places[at] ?? 0;
    if ('part' in each) toStore.push({ index, part: each.part });
    else why[index] = each.why;
  }
  if (toStore.length === 0) return;
  const refused = await parts.partial.store(
    context.projectId,
    'langsmith',
    toStore.map(({ part }) => part),
  );
  for (const [at, rule] of refused.entries()) why[toStore[at]?.index ?? 0] = rule;
}

/** @param rule in words, behind the pointer of a field where it is about one */
function issueOf(pointer: string, rule: string): Issue {
  const [, field = '', detail = rule] = /^(\/\S*) (.+)$/s.exec(rule) ?? [];
  return { pointer: `${pointer}${field}`, detail };
}

function requireAll(issues: readonly Issue[], count: number): void {
  const [first] = issues;
  if (first === undefined) return;
  const why = `${first.pointer} ${first.detail}`.trim();
  const others = issues.length < count ? 'the others are stored' : 'nothing is stored';
  const detail = count === 1 ? why : `${issues.length} of ${count} runs are refused, ${others}: ${why}`;
  throw new DomainError('invalid', detail, { issues });
}

/** Traces of runs that do not say theirs, where the run, or its parent, is stored in one trace alone. */
async function tracesOf(
  projectId: string,
  runs: readonly { readonly isPatch: boolean; readonly run: Run }[],
  lists: Pick<Lists, 'spans'>,
): Promise<ReadonlyMap<string, string>> {
  const together = new Map(
    runs.flatMap(({ run, isPatch }) => {
      const isRoot = run.parent_run_id == null && !isPatch;
      const trace = run.trace_id ?? placeOfRun(run.dotted_order).trace ?? (isRoot ? run.id : null);
      return trace === null ? [] : [[ownId(projectId, run.id), ownId(projectId, trace)]];
    }),
  );
  const strays = new Set(runs.flatMap(({ run, isPatch }) => strayOf(projectId, run, isPatch) ?? []));
  const traces = new Map<string, string>();
  for (const id of [...strays].slice(0, MAX_STRAYS)) {
    const trace = together.get(id) ?? (await traceOf(projectId, id, lists));
    if (trace !== undefined) traces.set(id, trace);
  }
  return traces;
}

async function traceOf(projectId: string, id: string, lists: Pick<Lists, 'spans'>): Promise<string | undefined> {
  const { json } = await lists.spans(projectId, { ...byIds(spanList, { id }, 2), fields: ['trace_id'] });
  const found = JSON.parse(Buffer.isBuffer(json) ? json.toString() : await text(json)) as { trace_id: string }[];
  return found.length === 1 ? found[0]?.trace_id : undefined;
}

/** Looks the experiments up that runs name. Of several with one name, the newest is meant. */
async function experimentsOf(
  projectId: string,
  runs: readonly Run[],
  experiments: RunParts['experiments'],
): Promise<RunContext['experimentOf']> {
  const known = new Map<string, string>();
  const names = new Set(runs.flatMap(({ session_name: name }) => (name == null || name === '' ? [] : [name])));
  await inPortions([...names], (some) => {
    for (const [name, id] of experiments.newestNamed(projectId, some)) known.set(name, id);
  });
  return ({ session_id, session_name }) => {
    if (session_name != null && session_name !== '') return known.get(session_name) ?? null;
    const id = session_id?.toLowerCase() ?? '';
    return UUID.test(id) ? id : null;
  };
}
