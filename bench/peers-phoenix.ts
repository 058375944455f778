import { hexId, json, PAGE, post, type Peer } from './peer.js';
import { freePort, installed, startPython } from './processes/python-program.js';

/** The list of traces as Phoenix's own pages ask for it (`TracesTableQuery`), without what annotations add to it. */
const TRACES = `
  query TracesTableQuery($id: ID!, $first: Int!, $numDescendants: Int!, $filter: String, $traceFilter: String) {
    node(id: $id) {
      ... on Project {
        rootSpans: spans(
          first: $first
          sort: {col: startTime, dir: desc}
          filterCondition: $filter
          traceFilterCondition: $traceFilter
        ) {
          edges {
            rootSpan: node {
              id spanKind name metadata statusCode statusMessage startTime endTime latencyMs cumulativeTokenCountTotal parentId
              input { value: truncatedValue }
              output { value: truncatedValue }
              spanId
              trace { id traceId userId numSpans costSummary { total { cost } } }
              spanAnnotations { id name label score annotatorKind createdAt }
              descendants(first: $numDescendants) {
                edges {
                  node {
                    id spanKind name statusCode: propagatedStatusCode statusMessage startTime endTime latencyMs parentId
                    cumulativeTokenCountTotal: tokenCountTotal
                    input { value: truncatedValue }
                    output { value: truncatedValue }
                    spanId
                    trace { id traceId }
                  }
                }
              }
            }
            cursor
          }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  }`;
const ROOTS = 'parent_span is None';
/** Spans below a root that a list shows, as Phoenix's pages have it. */
const DESCENDANTS = 50;
/** The most that Phoenix answers at once. */
const SPANS_PAGE = 1_000;

interface Spans {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

/** Phoenix with its default settings: SQLite. @throws Error when it cannot be installed or started */
export async function startPhoenix(folder: string, venv: string): Promise<Peer> {
  const phoenix = await installed('arize-phoenix', venv);
  const [port, grpcPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PHOENIX_WORKING_DIR: folder,
    PHOENIX_HOST: '127.0.0.1',
    PHOENIX_PORT: String(port),
    PHOENIX_GRPC_PORT: String(grpcPort),
    PHOENIX_TELEMETRY_ENABLED: 'false',
  };
  const program = await startPython(phoenix, { command: ['phoenix', 'serve'], folder, env, ready: `${url}/healthz` });
  const graphql = async <T>(query: string, variables: object): Promise<T> => {
    const answer = await json<{ data: T; errors?: unknown }>(`${url}/graphql`, post({ query, variables }));
    if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors).slice(0, 300));
    return answer.data;
  };
  const projects = await json<{ data: { id: string; name: string }[] }>(`${url}/v1/projects`);
  const id = projects.data.find(({ name }) => name === 'default')?.id ?? '';
  const list = async (filters: { readonly filter: string; readonly traceFilter?: string }) => {
    const variables = { id, first: PAGE, numDescendants: DESCENDANTS, ...filters };
    const { node } = await graphql<{ node: { rootSpans: { edges: unknown[] } } }>(TRACES, variables);
    return node.rootSpans.edges.length;
  };
  const spansOf = async (trace: string) => {
    let spans = 0;
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/v1/projects/default/spans?trace_id=${hexId(trace)}&limit=${SPANS_PAGE}${page}`;
      const answer: Spans = await json<Spans>(url + path);
      spans += answer.data.length;
      cursor = answer.next_cursor;
    }
    return spans;
  };
  return {
    name: 'Phoenix',
    version: phoenix.version,
    otlp: { url: `${url}/v1/traces`, headers: {} },
    pid: program.pid,
    folder,
    spansOf,
    async tracesCounted() {
      const query = 'query ($id: ID!) { node(id: $id) { ... on Project { traceCount } } }';
      return (await graphql<{ node: { traceCount: number } }>(query, { id })).node.traceCount;
    },
    reads: {
      list: () => list({ filter: ROOTS }),
      errors: () => list({ filter: ROOTS, traceFilter: 'error_count > 0' }),
      text: (text) => list({ filter: `'${text}' in input.value or '${text}' in output.value` }),
      whole: spansOf,
    },
    stop: () => program.stop(),
  };
}
