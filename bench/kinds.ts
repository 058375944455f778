import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REQUEST_CLIENTS, REQUEST_SPANS } from './bodies.js';
import { generateTrace, SPANS_PER_TRACE, type GeneratedSpan } from './data.js';
import { figure, median } from './figures.js';
import { Bodies } from './processes/load.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { loadServer } from './server-load.js';

const TRACES_PER_REQUEST = REQUEST_SPANS / SPANS_PER_TRACE;

/** What is sent. */
export interface Kind {
  readonly name: string;
  readonly path: string;
  readonly bodyOf: (spans: readonly GeneratedSpan[]) => unknown;
  /** What is done before it is sent. */
  readonly prepare?: (server: ServerProcess) => Promise<void>;
}

/** Processor time of one of each kind, in microseconds: of the server and of its engine, by turn. */
export type Taken = ReadonlyMap<string, readonly (readonly number[])[]>;

/** Sends so many of each kind to one server, in turn, after one turn to warm up. */
export async function takenBy(kinds: readonly Kind[], spans: number, repetitions: number): Promise<Taken> {
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  const server = await startServerProcess({ dataDir: directory });
  try {
    const taken = new Map<string, number[][]>(kinds.map(({ name }) => [name, []]));
    for (let run = 0; run <= repetitions; run += 1)
      for (const [index, kind] of kinds.entries()) {
        await kind.prepare?.(server);
        const bodies = bodiesOf(kind, run * kinds.length + index, spans);
        const target = { clients: REQUEST_CLIENTS, path: kind.path };
        const { cpu } = await loadServer(server, kind.name, bodies, target, () => server.settled());
        if (run > 0) taken.get(kind.name)?.push([cpu.server, cpu.engine].map((ms) => (ms * 1000) / spans));
      }
    return taken;
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A row for each kind: its name, the server's time, the engine's, both together, and that against the first kind. */
export function rowsOf(kinds: readonly Kind[], taken: Taken): string[][] {
  const of = (name: string, column: number) => median((taken.get(name) ?? []).map((each) => each[column] ?? NaN));
  const together = (name: string) => of(name, 0) + of(name, 1);
  return kinds.map(({ name }) => [
    ...[name, figure(of(name, 0)), figure(of(name, 1)), figure(together(name))],
    figure(together(name) / together(kinds[0]?.name ?? '')),
  ]);
}

function bodiesOf({ bodyOf }: Kind, series: number, spans: number): Bodies {
  return new Bodies(
    Array.from({ length: Math.ceil(spans / REQUEST_SPANS) }, (_none, request) => {
      const first = request * TRACES_PER_REQUEST;
      const traces = Array.from({ length: TRACES_PER_REQUEST }, (_trace, index) =>
        generateTrace(series, first + index),
      );
      return Buffer.from(JSON.stringify(bodyOf(traces.flat().slice(0, spans - request * REQUEST_SPANS))));
    }),
  );
}
