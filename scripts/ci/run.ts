import { appendFile, writeFile } from 'node:fs/promises';
import type { ComparisonRead } from '../../src/features/comparisons/schema.js';
import { namesIn, spentText } from '../../src/features/comparisons/words.js';
import { startProgress } from '../progress.js';
import type { Remote } from '../transfer/remote.js';
import { CiError } from './ci-error.js';
import { environmentOf, type Connection } from './environment.js';
import { runEvaluation } from './evaluation.js';
import { baselineIn, datasetOf, hasBaseline, type Experiment, type Gate } from './experiments.js';
import { codeHere } from './git.js';
import { interruptible } from './interruption.js';
import { judgeResults } from './judging.js';
import { POLL_MS } from './pauses.js';
import { readRules } from './rules.js';
import { say } from './say.js';
import { estimate, runFinished, startRun, type ServerRun } from './server-run.js';

/** What is tried: by a command, by the server, or an experiment that is there already. */
export type Candidate =
  | { readonly command: readonly string[]; readonly dataset: string }
  | { readonly prompt: string; readonly dataset: string }
  | { readonly resume: string };

export interface CiOptions {
  readonly candidate: Candidate;
  /** A tag, or an id. */
  readonly baseline: string;
  readonly rules: string;
  readonly name?: string | undefined;
  readonly repetitions?: number | undefined;
  readonly pin?: string | undefined;
  readonly junit?: string | undefined;
  readonly markdown?: string | undefined;
  readonly strict?: boolean | undefined;
  /** Of the server, where an option named it. */
  readonly url?: string | undefined;
}

/** What a run ends with. */
export const EXIT = { passed: 0, regression: 1, undecided: 2, notRun: 3 } as const;

/** Of experiments that others still run. */
const WAIT_SECONDS = 240;
/** Most characters of the name of an experiment. */
const MAX_NAME = 200;

type Found = Pick<ComparisonRead, 'id' | 'verdict' | 'because' | 'metrics' | 'spent'>;

/** An experiment, and whether there is one to compare it with. */
interface Made {
  readonly experiment: Experiment;
  readonly comparable: boolean;
}

/**
 * Has an experiment made, and compares it with the baseline.
 * @returns the exit code @throws CiError, TransferError when that could not be done
 */
export async function runCi(remote: Remote, connection: Connection, options: CiOptions): Promise<number> {
  const rules = await readRules(options.rules);
  const { id: project } = await remote.project(undefined);
  const { rules: file, baseline, candidate } = options;
  const gate: Gate = { remote, at: `/projects/${project}`, rules, file, baseline };
  const made =
    'command' in candidate
      ? await byCommand(gate, options, candidate, { project, connection })
      : await byServer(gate, options, candidate);
  return interruptible(() => judged(gate, options, made), adviceOn(made.experiment, options, candidate));
}

async function byCommand(
  gate: Gate,
  options: CiOptions,
  { command, dataset }: Extract<Candidate, { readonly command: unknown }>,
  { project, connection }: { readonly project: string; readonly connection: Connection },
): Promise<Made> {
  const { remote, at } = gate;
  const experiment = await createExperiment(gate, options, dataset);
  const own = `${at}/experiments/${experiment.id}`;
  try {
    const comparable = await hasBaseline(gate, experiment.id, experiment.dataset.id);
    requireBaseline(comparable, options);
    say(
      `Experiment ${experiment.name} (${experiment.id}): ${experiment.rows * experiment.repetitions} results expected.`,
    );
    await watched(remote, own, experiment, () =>
      runEvaluation(command, environmentOf(experiment, project, connection)),
    );
    const { figures } = await remote.post<Experiment>(`${own}:finish`, '');
    if (figures.results === 0)
      throw new CiError('The command stored no result of the experiment SPANHOUSE_EXPERIMENT_ID.');
    return { experiment, comparable };
  } catch (error) {
    // One that is finished stays: cancelling it is refused.
    await remote.post(`${own}:cancel`, '').catch(() => undefined);
    throw error;
  }
}

/** Starts a run, or finds the one to go on with. */
async function byServer(
  gate: Gate,
  options: CiOptions,
  candidate: Exclude<Candidate, { readonly command: unknown }>,
): Promise<Made> {
  const { name, repetitions } = options;
  if ('resume' in candidate) {
    const path = `${gate.at}/experiments/${encodeURIComponent(candidate.resume)}`;
    const experiment = await gate.remote.get<Experiment>(path);
    const comparable = await hasBaseline(gate, null, experiment.dataset.id);
    requireBaseline(comparable, options);
    return { experiment, comparable };
  }
  const run: ServerRun = { ...candidate, name, repetitions };
  await estimate(gate, run);
  const comparable = await hasBaseline(gate, null, datasetOf(run.dataset).dataset);
  requireBaseline(comparable, options);
  const experiment = await startRun(gate, run);
  return { experiment, comparable };
}

/** What follows once an experiment is on its way: it stays, whatever ends the wait. */
async function judged(gate: Gate, options: CiOptions, { experiment, comparable }: Made): Promise<number> {
  const { remote, at } = gate;
  const own = `${at}/experiments/${experiment.id}`;
  if (!('command' in options.candidate)) {
    say(`Experiment ${experiment.name} (${experiment.id}).`);
    await runFinished(gate, experiment);
  }
  if (!comparable) requireSound(await remote.get<Experiment>(own), options);
  await judgeResults(gate, experiment.id, comparable);
  if (!comparable) return firstBaseline(remote, own, options);
  const found = await compare(gate, experiment);
  await report(remote, `${at}/comparisons/${found.id}`, options);
  const code = exitCode(found, options);
  if (found.verdict === 'passed' && options.pin !== undefined) await pin(remote, own, options.pin);
  return code;
}

/** How to resume with an experiment that stays. */
function adviceOn({ id }: Experiment, options: CiOptions, candidate: Candidate): string {
  const { rules, baseline, pin: tag, junit, markdown, url, strict } = options;
  const named = { pin: tag, junit, markdown, url };
  const more = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  if (strict === true) more.push('--strict');
  const args = ['--resume', id, '--rules', rules, '--baseline', baseline, ...more];
  const resume = `To resume: spanhouse ci ${args.map(quoted).join(' ')}`;
  return 'command' in candidate ? resume : `The server continues its work, unless you cancel the experiment. ${resume}`;
}

/** As a shell reads it. */
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

async function createExperiment({ remote, at }: Gate, options: CiOptions, dataset: string): Promise<Experiment> {
  const subject = await codeHere();
  const name = options.name ?? [subject.branch, subject.commit?.slice(0, 7)].filter((part) => part).join(' ');
  const { repetitions } = options;
  const body = { name: name === '' ? 'ci' : cut(name.toWellFormed()), ...datasetOf(dataset), repetitions, subject };
  return remote.post<Experiment>(`${at}/experiments`, JSON.stringify(body));
}

/** By characters, none of which is halved. The server counts as JSON Schema does: by code points. */
const cut = (name: string) => Array.from(name).slice(0, MAX_NAME).join('');

/** @throws CiError where the first run is not to become the baseline */
function requireBaseline(comparable: boolean, options: CiOptions): void {
  if (comparable || options.pin !== undefined) return;
  throw new CiError(`${baselineText(options)} does not exist. To make it, run once with --pin ${options.baseline}.`);
}

/** @throws CiError where an experiment shows nothing that later ones could be compared with */
function requireSound({ figures: { results, errors } }: Experiment, options: CiOptions): void {
  if (errors < results) return;
  const lack = results === 0 ? 'no result' : 'no result without an error';
  throw new CiError(`The experiment has ${lack}: it cannot become ${baselineText(options).replace('The', 'the')}.`);
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

async function compare(gate: Gate, { id, dataset }: Experiment): Promise<Found> {
  const { remote, at, rules, baseline } = gate;
  const experiments = { candidate: id, baseline: baselineIn(gate, dataset.id) };
  const body = JSON.stringify({ ...rules.comparison, ...experiments, wait_seconds: WAIT_SECONDS });
  const found = await remote.post<Found>(`${at}/comparisons`, body);
  say(`Comparison ${found.id} with ${baseline}: ${found.verdict}.`);
  const [named, cost] = [namesIn(found.metrics), spentText(found.spent)];
  for (const sentence of [...found.because, ...(cost === '' ? [] : [cost])]) say(`  ${named(sentence)}`);
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

const baselineText = ({ baseline }: Pick<CiOptions, 'baseline'>) => `The baseline ${baseline}`;
