import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS } from './bodies.js';
import type { GeneratedSpan } from './data.js';
import { printTable } from './figures.js';
import { rowsOf, takenBy, type Kind } from './kinds.js';
import { wholeNumber } from './options.js';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly spans: number;
  readonly repetitions: number;
  readonly write: boolean;
}

const PATH = '/api/public/ingestion';

/** `parts`: what spans cost that come in halves, against whole ones. */
export function register(program: Command): void {
  program
    .command('parts')
    .description(
      'send whole spans, spans of an older client of Langfuse, and such in halves to a fresh server, in turn',
    )
    .option('--spans <n>', 'spans, or halves, of each kind and repetition', wholeNumber(REQUEST_SPANS, 500_000), 12_000)
    .option('--repetitions <n>', 'repetitions after one to warm up', wholeNumber(1, 99), 3)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

/** The second halves are of the spans whose first halves came before. */
function kinds(): Kind[] {
  const begun: (readonly GeneratedSpan[])[] = [];
  return [
    { name: 'a whole span', path: '/spans', bodyOf: (spans) => spans },
    { name: 'a whole span, as an event', path: PATH, bodyOf: (spans) => batchOf(spans, (span) => [wholeOf(span)]) },
    {
      name: 'its beginning',
      path: PATH,
      bodyOf(spans) {
        begun.push(spans);
        return batchOf(spans, (span) => [beginningOf(span)]);
      },
    },
    {
      name: 'its end, a patch',
      path: PATH,
      bodyOf: () => batchOf(begun.shift() ?? [], (span) => [endOf(span)]),
    },
    {
      name: 'both in one batch',
      path: PATH,
      bodyOf: (spans) => batchOf(spans, (span) => [beginningOf(span), endOf(span)]),
    },
  ];
}

interface Event {
  readonly type: string;
  readonly at: unknown;
  readonly body: Readonly<Record<string, unknown>>;
}

function batchOf(spans: readonly GeneratedSpan[], eventsOf: (span: GeneratedSpan) => readonly Event[]) {
  const events = spans.flatMap((span) =>
    eventsOf(span).map(({ type, at, body }) => {
      const own = { id: span.id, traceId: span.trace_id };
      return { id: `${type} ${span.id}`, type, timestamp: at, body: { ...own, ...body } };
    }),
  );
  return { batch: events };
}

function beginningOf({ parent_span_id, name, started_at, input_data, attributes, kind }: GeneratedSpan): Event {
  const body = {
    ...{ name, startTime: started_at, input: input_data, metadata: attributes },
    ...(parent_span_id != null && { parentObservationId: parent_span_id }),
  };
  return { type: kind === 'llm' ? 'generation-create' : 'span-create', at: started_at, body };
}

function endOf({ ended_at, output_data, error_message, kind }: GeneratedSpan): Event {
  const failed = error_message == null ? {} : { level: 'ERROR', statusMessage: error_message };
  const usage = kind === 'llm' ? { model: 'gpt-4o', usageDetails: { input: 1200, output: 300 } } : {};
  const body = { endTime: ended_at, output: output_data, ...failed, ...usage };
  return { type: kind === 'llm' ? 'generation-update' : 'span-update', at: ended_at, body };
}

function wholeOf(span: GeneratedSpan): Event {
  const [beginning, end] = [beginningOf(span), endOf(span)];
  return { ...beginning, body: { ...beginning.body, ...end.body } };
}

async function bench({ spans, repetitions, write }: Options): Promise<void> {
  const context = captureContext();
  const all = kinds();
  const rows = rowsOf(all, await takenBy(all, spans, repetitions));
  printTable(COLUMNS, rows);
  if (!write) return;
  writeResults({
    name: 'Ingest of spans in parts',
    command: `npm run bench -- parts --spans ${spans} --repetitions ${repetitions}`,
    context,
    engine: 'embedded',
    about:
      `Processor time of the server and its engine, rollups included, of requests of ${REQUEST_SPANS} spans by ${REQUEST_CLIENTS} ` +
      `clients: ${spans} of each kind in turn, medians of ${repetitions} turns after one to warm up. Events are those of older clients of ` +
      `Langfuse. Target: a patch ≤ 2 × a whole span.`,
    columns: COLUMNS,
    rows,
  });
}

const COLUMNS = ['what', 'server, µs', 'engine, µs', 'together', 'against a whole span'];
