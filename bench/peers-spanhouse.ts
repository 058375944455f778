import { join } from 'node:path';
import { json, PAGE, type Peer } from './peer.js';
import { startServerProcess } from './processes/server.js';

/** This server, with default settings. */
export async function startSpanhouse(folder: string, version: string): Promise<Peer> {
  const dataDir = join(folder, 'data');
  const server = await startServerProcess({ dataDir });
  const headers = { authorization: `Bearer ${server.key}` };
  const found = async (path: string) => (await json<readonly unknown[]>(`${server.url}${path}`, { headers })).length;
  return {
    name: 'Spanhouse',
    version,
    otlp: { url: `${server.url}/v1/traces`, headers },
    pid: server.pid,
    folder: dataDir,
    spansOf: (trace) => found(`/spans?trace_id=${trace}&fields=id`),
    async tracesCounted() {
      const response = await fetch(`${server.url}/traces?limit=1&count=true`, { headers });
      await response.text();
      return Number(response.headers.get('x-total-count') ?? NaN);
    },
    reads: {
      list: () => found(`/traces?limit=${PAGE}`),
      errors: () => found(`/traces?limit=${PAGE}&has_error=true`),
      text: (text) => found(`/traces?limit=${PAGE}&q=${encodeURIComponent(text)}`),
      whole: (trace) => found(`/spans?trace_id=${trace}`),
    },
    stop: () => server.stop(),
  };
}
