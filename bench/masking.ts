import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS } from './bodies.js';
import { printTable } from './figures.js';
import { measureTexts, TEXT_COLUMNS } from './masking-texts.js';
import { rowsOf, takenBy, type Kind } from './kinds.js';
import { wholeNumber } from './options.js';
import type { ServerProcess } from './processes/server.js';
import { captureContext, writeResults } from './results.js';
import { PROJECT_ID } from './rows.js';

interface Options {
  readonly spans: number;
  readonly repetitions: number;
  readonly write: boolean;
}

const RULES = ['email', 'phone', 'card', 'iban', 'api_key'].map((type) => ({ type }));
const EXPRESSION = { type: 'expression', expression: '\\bCUST-[0-9]{6}\\b' };

const withRules = (name: string, rules: readonly object[]): Kind => ({
  ...{ name, path: '/spans', bodyOf: (spans) => spans },
  prepare: (server) => setRules(server, rules),
});
const KINDS: readonly Kind[] = [
  withRules('no rule', []),
  withRules('a rule for e-mail addresses', RULES.slice(0, 1)),
  withRules('an expression', [EXPRESSION]),
  withRules('rules for all five kinds', RULES),
];

/** `masking`: what masking rules cost for a text, and on ingest. */
export function register(program: Command): void {
  program
    .command('masking')
    .description(
      'mask texts by each rule, and send spans to a server whose project has no masking rule, one, and five, in turn',
    )
    .option('--spans <n>', 'spans of each kind and repetition', wholeNumber(REQUEST_SPANS, 500_000), 24_000)
    .option('--repetitions <n>', 'repetitions after one to warm up', wholeNumber(1, 99), 3)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench({ spans, repetitions, write }: Options): Promise<void> {
  const context = captureContext();
  const command = `npm run bench -- masking --spans ${spans} --repetitions ${repetitions}`;
  const texts = measureTexts();
  printTable(TEXT_COLUMNS, texts);
  const rows = rowsOf(KINDS, await takenBy(KINDS, spans, repetitions));
  printTable(COLUMNS, rows);
  if (!write) return;
  writeResults({
    name: 'Masking of texts',
    ...{ command, context, engine: 'embedded', columns: TEXT_COLUMNS, rows: texts },
    about:
      'Milliseconds of processor time for a text of 100,000 characters by one rule alone. In the last column, every line of 150 ' +
      'characters has an email address, a phone number and a card number.',
  });
  writeResults({
    name: 'Masking on ingest',
    command,
    context,
    engine: 'embedded',
    about:
      `Processor time of the server and its engine for a span, rollups included, of requests of ${REQUEST_SPANS} by ${REQUEST_CLIENTS} clients: ` +
      `${spans} with each set of rules in turn, medians of ${repetitions} turns after one to warm up.`,
    columns: COLUMNS,
    rows,
  });
}

const COLUMNS = ['rules', 'server, µs', 'engine, µs', 'together', 'against no rule'];

async function setRules({ url, key }: ServerProcess, rules: readonly object[]): Promise<void> {
  const answer = await fetch(`${url}/projects/${PROJECT_ID}/masking`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ rules }),
  });
  if (!answer.ok) throw new Error(`The rules were refused: ${await answer.text()}`);
}
