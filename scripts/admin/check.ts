import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import type { CheckOutcome } from '../../src/compose/check.js';
import { loadConfig } from '../../src/config/config.js';
import { reasonOf, type Finding } from '../../src/features/check/checker.js';
import { DomainError } from '../../src/engine/errors.js';
import { jsonOf, printableLines } from '../output.js';
import { startProgress } from '../progress.js';

interface CheckOptions {
  readonly all?: true;
  readonly sample: string;
  readonly seed?: string;
  readonly repair?: true;
}

interface Where {
  readonly json: boolean;
  readonly dataDir: string;
}

/** Traces, and sessions, that are compared where not all are. */
const SAMPLE = 5_000;
const FOUND = 1;
const NOT_CHECKED = 2;

/** Adds the command that audits a DATA_DIR. It ends with 0 where nothing is wrong, with 1 where something is, else with 2. */
export function addCheckCommand(program: Command, where: () => Where): void {
  program
    .command('check')
    .description('compare spans, rollups and metadata and report what is wrong; changes nothing without --repair')
    // A check that did not run says nothing of the data.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : NOT_CHECKED))
    .option('--all', 'compare everything, not only a sample')
    .option('--sample <count>', 'approximate number of traces, sessions and images to compare', String(SAMPLE))
    .option('--seed <number>', 'select the same sample as an earlier check with this number')
    .option('--repair', 'repair what can be repaired, while no server runs; compares everything')
    .action(async (options: CheckOptions) => {
      try {
        const { json, dataDir } = where();
        process.umask(0o077);
        const seed = options.seed === undefined ? randomInt(1, 1_000_000) : wholeNumber('--seed', options.seed);
        const all = options.all === true || options.repair === true;
        const run = {
          config: { ...loadConfig(), dataDir },
          extent: { sample: all ? null : wholeNumber('--sample', options.sample), seed },
          onAudit: (audit: { title: string; unit: string }, total: number) =>
            progressOf(audit.title, total, audit.unit),
        };
        const { checkData, repairData } = await import('../../src/compose/check.js');
        const outcome = await (options.repair === true ? repairData(run) : checkData(run));
        const left = outcome.findings.reduce((sum, { count, mended }) => sum + count - mended, 0);
        process.stdout.write(
          json ? jsonOf({ ...outcome, seed: all ? null : seed }) : printableLines(told(outcome, all ? null : seed)),
        );
        const failed = outcome.audits.some(({ failure }) => failure !== null);
        process.exitCode = left > 0 ? FOUND : failed ? NOT_CHECKED : 0;
      } catch (error) {
        process.stderr.write(`Not checked: ${printableLines(reasonOf(error))}\n`);
        process.exitCode = NOT_CHECKED;
      }
    });
}

function progressOf(title: string, total: number, unit: string) {
  const shown = startProgress(title, Math.ceil(total), unit);
  return { update: (checked: number) => shown.update(Math.ceil(checked)), stop: () => shown.stop() };
}

function told({ findings, audits, notes }: CheckOutcome, seed: number | null): string {
  const lines = audits.map(({ title, unit, checked, undecided, failure }) => {
    if (failure !== null) return `${title}: NOT COMPARED, or not completely: ${failure}`;
    const open =
      undecided === 0 ? '' : `; ${undecided} could not be compared, because they changed meanwhile or are too large`;
    return `${title}: ${Math.round(checked)} ${unit} compared${open}`;
  });
  lines.push('', ...findings.flatMap(toldOf), ...notes);
  if (findings.length === 0 && audits.every(({ failure }) => failure === null)) lines.push('Nothing is wrong.');
  if (seed !== null) lines.push(`This was a sample (--seed ${seed}); --all compares everything.`);
  return `${lines.join('\n')}\n`;
}

function toldOf({ what, count, mended, examples, todo }: Finding): string[] {
  const more = count > examples.length ? [`    and ${count - examples.length} more`] : [];
  const named = examples.map(({ project, id, detail }) => {
    const of = project === '' || project === id ? '' : ` of project ${project}`;
    return `    ${id}${of}${detail === undefined ? '' : `: ${detail}`}`;
  });
  const outcome = mended === 0 ? '' : mended === count ? ': mended' : `: ${mended} repaired, ${count - mended} not`;
  return [`${count} ${what}${outcome}`, ...named, ...more, ...(mended === count ? [] : [`  To do: ${todo}.`]), ''];
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new DomainError('invalid', `${option} must be a whole number from 1, not ${text}`);
  return Number(text);
}
