import type { Command } from 'commander';
import { loadConfig } from '../../src/config/config.js';
import { DomainError } from '../../src/engine/errors.js';
import { placeName } from '../../src/features/move/move.js';
import { giveUpMove, readMoveMark } from '../../src/features/move/store/move-mark.js';
import type { Row } from '../output.js';
import { startProgress, type Progress } from '../progress.js';
import type { Run } from './answer.js';

interface Options {
  readonly to?: string;
  readonly cancel?: true;
}

const EMBEDDED = 'embedded';

/** Adds the command that moves spans to another ClickHouse. */
export function addMoveCommand(program: Command, run: Run): void {
  program
    .command('move')
    .description(
      'move the spans of the running server between the embedded engine and a ClickHouse server; if interrupted, ' +
        'run it again to resume',
    )
    .option(
      '--to <place>',
      'URL of the ClickHouse server, with CLICKHOUSE_USER, CLICKHOUSE_PASSWORD and CLICKHOUSE_DATABASE; or `embedded`',
    )
    .option('--cancel', 'give up an interrupted move')
    .action(({ to, cancel }: Options) => run((dataDir) => (cancel === true ? cancelMove(dataDir) : move(dataDir, to))));
}

async function move(dataDir: string, to: string | undefined): Promise<Row> {
  const config = { ...configFor(to), dataDir };
  // Loaded when it is needed, as what other commands have of the server: they begin in half the time.
  const { afterMove, moveSpans } = await import('../../src/compose/move-run.js');
  let shown: Progress | undefined;
  try {
    const moved = await moveSpans({
      config,
      to: config.clickhouse.url,
      progress: {
        total: (rows) => (shown = startProgress('Moving', rows, 'rows')),
        done: (rows) => shown?.update(rows),
      },
      onLastStep: () => {
        shown?.stop();
        shown = undefined;
        process.stderr.write('All but the last writes are copied; spans are refused until the lists are compared\n');
      },
    });
    const { startWith, leftBehind } = afterMove(moved, dataDir);
    return {
      moved_to: placeName(moved.to),
      projects: moved.projects,
      spans: moved.spans,
      seconds: tenths(moved.seconds),
      refused_seconds: tenths(moved.refusedSeconds),
      start_with: startWith,
      note: `All lists are equal. ${leftBehind}`,
    };
  } finally {
    shown?.stop();
  }
}

async function cancelMove(dataDir: string): Promise<Row> {
  const mark = readMoveMark(dataDir);
  if (mark?.done_at !== null) throw new DomainError('not_found', `No move of the spans of ${dataDir} is in progress`);
  giveUpMove(dataDir, mark);
  return {
    given_up: placeName(mark.to),
    note: `The spans stay in ${placeName(mark.from)}. Remove what was copied before another move goes there.`,
  };
}

/** The settings, with the place that the spans go to as that of ClickHouse. How the server is backed up does not matter. */
function configFor(to: string | undefined) {
  if (to === undefined)
    throw new DomainError('invalid', 'Name the target: --to <URL of a ClickHouse server> or --to embedded');
  const isKept = ([name]: [string, unknown]) => name !== 'CLICKHOUSE_URL' && !name.startsWith('BACKUP_');
  const env = Object.fromEntries(Object.entries(process.env).filter(isKept));
  return loadConfig(to === EMBEDDED ? env : { ...env, CLICKHOUSE_URL: to });
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
