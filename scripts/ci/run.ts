import { appendFile, writeFile } from 'node:fs/promises';
import type { ComparisonRead } from '../../src/features/comparisons/schema.js';
import { printable } from '../output.js';
import { startProgress } from '../progress.js';
import { RefusedError, type Remote } from '../transfer/remote.js';
import { CiError } from './ci-error.js';
import { environmentOf, type Connection, type Experiment } from './environment.js';
import { runEvaluation } from './evaluation.js';
import { codeHere } from './git.js';
import { readRules, type Rules } from './rules.js';

export interface CiOptions {
  /** `name`, or `name@version`: a number, an id or a tag. */
  readonly dataset: string;
  /** A tag, or an id. */
  readonly baseline: string;
  readonly rules: string;
  readonly name?: string | undefined;
  readonly repetitions?: number | undefined;
  readonly pin?: string | undefined;
  readonly junit?: string | undefined;
  readonly markdown?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly command: readonly string[];
}

/** What a run ends with. */
export const EXIT = { passed: 0, regression: 1, undecided: 2, notRun: 3 } as const;

const POLL_MS = 2_000;
/** Of experiments that others still run. */
const WAIT_SECONDS = 240;
/** Most characters of the name of an experiment. */
const MAX_NAME = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Found = Pick<ComparisonRead, 'id' | 'verdict' | 'because'>;

/**
 * Makes an experiment, has the command fill it, and compares it with the baseline.
 * @returns the exit code @throws CiError, TransferError when that could not be done
 */
export async function runCi(remote: Remote, connection: Connection, options: CiOptions): Promise<number> {
  const rules = await readRules(options.rules);
  const { id: project } = await remote.project(undefined);
  const at = `/projects/${project}`;
  const experiment = await createExperiment(remote, at, options);
  const own = `${at}/experiments/${experiment.id}`;
  try {
    const hasBaseline = await isComparable(remote, at, experiment, options, rules);
    if (!hasBaseline && options.pin === undefined)
      throw new CiError(
        `${baselineText(options)} does not exist. To make it, run once with --pin ${options.baseline}.`,
      );
    say(
      `Experiment ${experiment.name} (${experiment.id}): ${experiment.rows * experiment.repetitions} results expected.`,
    );
    await watched(remote, own, experiment, () =>
      runEvaluation(options.command, environmentOf(experiment, project, connection)),
    );
    const { figures } = await remote.post<Experiment>(`${own}:finish`, '');
    if (figures.results === 0)
      throw new CiError('The command stored no result of the experiment SPANHOUSE_EXPERIMENT_ID.');
    if (!hasBaseline) return await firstBaseline(remote, own, options);
  } catch (error) {
    // One that is finished stays: cancelling it is refused.
    await remote.post(`${own}:cancel`, '').catch(() => undefined);
    throw error;
  }
  const found = await compare(remote, at, experiment, options, rules);
  await report(remote, `${at}/comparisons/${found.id}`, options);
  const code = exitCode(found, options);
  if (found.verdict === 'passed' && options.pin !== undefined) await pin(remote, own, options.pin);
  return code;
}

async function createExperiment(remote: Remote, at: string, options: CiOptions): Promise<Experiment> {
  const subject = await codeHere();
  const place = options.dataset.lastIndexOf('@');
  const dataset = place > 0 ? options.dataset.slice(0, place) : options.dataset;
  const version = place > 0 ? { dataset_version: options.dataset.slice(place + 1) } : {};
  const name = options.name ?? [subject.branch, subject.commit?.slice(0, 7)].filter((part) => part).join(' ');
  const repetitions = options.repetitions === undefined ? {} : { repetitions: options.repetitions };
  const body = { name: name === '' ? 'ci' : cut(name.toWellFormed()), dataset, ...version, ...repetitions, subject };
  return remote.post<Experiment>(`${at}/experiments`, JSON.stringify(body));
}

/** By characters, none of which is halved. The server counts as JSON Schema does: by code points. */
const cut = (name: string) => Array.from(name).slice(0, MAX_NAME).join('');

/**
 * Whether there is a baseline, asked before anything is paid for: the server refuses to compare an experiment that runs, but
 * wrong rules and an unknown baseline before that.
 */
async function isComparable(
  remote: Remote,
  at: string,
  experiment: Experiment,
  options: CiOptions,
  rules: Rules,
): Promise<boolean> {
  try {
    await remote.post(`${at}/comparisons`, bodyOf(experiment, options, rules, 0));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.problem.status === 404 && (await isMissing(remote, at, experiment, options))) return false;
    if (error.problem.status !== 409) throw new CiError(`${options.rules}: ${problemText(error)}`);
  }
  return true;
}

/** Whether nothing has the tag of the baseline: the one thing not found that the first run may lack. */
async function isMissing(
  remote: Remote,
  at: string,
  { id, dataset }: Experiment,
  options: CiOptions,
): Promise<boolean> {
  const { baseline } = options;
  if (UUID.test(baseline)) return false;
  await remote.get(`${at}/experiments/${id}`);
  const query = new URLSearchParams({ dataset: dataset.id, tag: baseline, limit: '1' });
  const { experiments } = await remote.get<{ readonly experiments: readonly unknown[] }>(
    `${at}/experiments?${query.toString()}`,
  );
  return experiments.length === 0;
}

function bodyOf({ id }: Experiment, { baseline }: CiOptions, rules: Rules, wait_seconds: number): string {
  const other = UUID.test(baseline) ? baseline : { tag: baseline };
  return JSON.stringify({ ...rules, candidate: id, baseline: other, wait_seconds });
}

function problemText({ problem, message }: RefusedError): string {
  const { errors = [] } = problem;
  return errors.length === 0 ? message : errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
}

/** Does the work, and shows meanwhile how many results there are. */
async function watched(
  remote: Remote,
  own: string,
  { rows, repetitions }: Experiment,
  work: () => Promise<void>,
): Promise<void> {
  const progress = startProgress('experiment', rows * repetitions, 'results');
  const look = async () => progress.update((await remote.get<Experiment>(own)).figures.results);
  let looking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, POLL_MS);
  try {
    await work();
    clearInterval(timer);
    await looking;
    await look();
  } finally {
    clearInterval(timer);
    progress.stop();
  }
}

async function compare(
  remote: Remote,
  at: string,
  experiment: Experiment,
  options: CiOptions,
  rules: Rules,
): Promise<Found> {
  const found = await remote.post<Found>(`${at}/comparisons`, bodyOf(experiment, options, rules, WAIT_SECONDS));
  say(`Comparison ${found.id} with ${options.baseline}: ${found.verdict}.`);
  for (const sentence of found.because) say(`  ${sentence}`);
  return found;
}

async function report(remote: Remote, comparison: string, { junit, markdown }: CiOptions): Promise<void> {
  const summary = process.env['GITHUB_STEP_SUMMARY'];
  const asMarkdown = markdown !== undefined || summary ? await remote.text(comparison, 'text/markdown') : '';
  if (markdown !== undefined) await writeFile(markdown, asMarkdown);
  if (summary) await appendFile(summary, `${asMarkdown}\n`);
  if (junit !== undefined) await writeFile(junit, await remote.text(comparison, 'application/xml'));
}

function exitCode({ verdict, because }: Found, { strict }: CiOptions): number {
  if (verdict === 'incomparable') throw new CiError(because.join(' '));
  if (verdict === 'failed') return EXIT.regression;
  if (verdict === 'undecided' && strict === true) return EXIT.undecided;
  return EXIT.passed;
}

async function firstBaseline(remote: Remote, own: string, options: CiOptions): Promise<number> {
  say(`${baselineText(options)} does not exist yet: there is nothing to compare with.`);
  if (options.pin !== undefined) await pin(remote, own, options.pin);
  return EXIT.passed;
}

async function pin(remote: Remote, own: string, tag: string): Promise<void> {
  await remote.post(`${own}/tags/${encodeURIComponent(tag)}:pin`, '');
  say(`The tag ${tag} points to this experiment now.`);
}

const baselineText = ({ baseline }: CiOptions) => `The baseline ${baseline}`;

function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
