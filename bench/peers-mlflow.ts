import { hexId, json, PAGE, post, type Peer } from './peer.js';
import { freePort, installed, startPython } from './processes/python-program.js';

/** The experiment that is there from the start. */
const EXPERIMENT = '0';

/** MLflow with its default settings: SQLite. @throws Error when it cannot be installed or started */
export async function startMlflow(folder: string, venv: string): Promise<Peer> {
  const mlflow = await installed('mlflow', venv);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = await startPython(mlflow, {
    command: ['mlflow', 'server', '--host', '127.0.0.1', '--port', String(port)],
    folder,
    env: { MLFLOW_DISABLE_TELEMETRY: 'true', DO_NOT_TRACK: 'true' },
    ready: `${url}/health`,
  });
  /** As MLflow's own pages ask for the list of an experiment's traces. */
  const search = async (filter?: string) => {
    const locations = [{ type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: EXPERIMENT } }];
    const query = { locations, filter, max_results: PAGE, order_by: ['timestamp_ms DESC'] };
    const answer = await json<{ traces?: unknown[] }>(`${url}/ajax-api/3.0/mlflow/traces/search`, post(query));
    return answer.traces?.length ?? 0;
  };
  const spansOf = async (trace: string) => {
    const id = `tr-${hexId(trace)}`;
    // A trace that is not there yet is answered with an error.
    const { spans } = await json<{ spans?: unknown[] }>(
      `${url}/ajax-api/3.0/mlflow/get-trace-artifact?request_id=${id}`,
    );
    return spans?.length ?? 0;
  };
  return {
    name: 'MLflow',
    version: mlflow.version,
    otlp: { url: `${url}/v1/traces`, headers: { 'x-mlflow-experiment-id': EXPERIMENT } },
    pid: program.pid,
    folder,
    spansOf,
    tracesCounted: () => Promise.resolve(null),
    reads: {
      list: () => search(),
      errors: () => search(`span.status = 'ERROR'`),
      text: (text) => search(`trace.text ILIKE '%${text}%'`),
      async whole(trace) {
        // Both at once, as its pages ask for them.
        const info = json(`${url}/ajax-api/3.0/mlflow/traces/tr-${hexId(trace)}`);
        const [spans] = await Promise.all([spansOf(trace), info]);
        return spans;
      },
    },
    stop: () => program.stop(),
  };
}
