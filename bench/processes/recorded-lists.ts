import { Readable } from 'node:stream';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import type { Sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import type { EngineCore } from '../../src/engine/traces/clickhouse/process/engine-core.js';
import { bindParameters } from '../../src/engine/traces/clickhouse/process/literals.js';
import { readStatement } from '../../src/engine/traces/clickhouse/process/statement.js';
import { ClickHouseLists } from '../../src/engine/traces/list/clickhouse-lists.js';
import { ListReads } from '../../src/engine/traces/list/list-reads.js';
import { NewestScoreTable } from '../../src/engine/traces/list/newest-score-table.js';
import { ReadsInProgress } from '../../src/engine/traces/read/reads-in-progress.js';
import { WordIndex } from '../../src/engine/traces/search/word-index.js';
import { highestVersion } from '../../src/engine/traces/rollup/recovery.js';
import { Governor } from '../../src/engine/work/governor.js';
import type { ListName } from '../list-queries.js';
import { PROJECT_ID } from '../rows.js';

const UNLIMITED = { timeoutSeconds: 600, maxResultBytes: 2 ** 30 };
const definitions = { spans: spanList, traces: traceList, sessions: sessionList };

/** A statement as it would reach the engine, and the format its answer is wanted in. */
export interface RecordedStatement {
  readonly sql: string;
  readonly format: string;
}

/** The statements that the store sends for a list, found by having it read the list from this engine. */
export async function statementsOf(core: EngineCore, list: ListName, search: string): Promise<RecordedStatement[]> {
  const upTo = await highestVersion(client(core, []));
  const recorded: RecordedStatement[] = [];
  const observer = { queryFinished: () => undefined, queryFailed: () => undefined };
  const words = new WordIndex(client(core, recorded));
  await words.load();
  recorded.length = 0;
  const reads = new ListReads({
    client: client(core, recorded),
    reads: new ReadsInProgress(
      {
        settle: () => Promise.resolve(upTo),
        readable: () => Promise.resolve(),
        committed: () => ({ upTo, traces: [], sessions: [] }),
      },
      new Governor(),
    ),
    notCurrent: () => ({ traces: [], sessions: [], stale: [] }),
    hasMarked: () => false,
    words,
    newestScores: new NewestScoreTable({ client: client(core, recorded), limits: UNLIMITED }),
    limits: UNLIMITED,
    observer,
  });
  const lists = new ClickHouseLists(reads);
  const page = await lists[list](PROJECT_ID, parseListQuery(definitions[list], new URLSearchParams(search)));
  if (!Buffer.isBuffer(page.json)) page.json.resume();
  return recorded;
}

/** Reads from the engine and notes what it ran. */
function client(core: EngineCore, recorded: RecordedStatement[]): ClickHouseClient {
  const run = async (sent: Sql) => {
    const { text, params } = sent.render();
    const statement = readStatement(text);
    const values = new Map(Object.entries(params).map(([name, value]) => [name, parameterText(value)]));
    const entry = { sql: bindParameters(statement, values), format: statement.format ?? 'JSONEachRow' };
    recorded.push(entry);
    return (await core.reads.run({ ...entry, settings: new Map() })).bytes;
  };
  const refuse = () => Promise.reject(new Error('a list only reads'));
  return {
    async query<T>(statement: Sql) {
      const lines = (await run(statement))
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as T);
    },
    stream: async (statement) => Readable.from([await run(statement)]),
    text: async (statement) => (await run(statement)).toString('utf8'),
    insert: refuse,
    command: refuse,
    ping: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}

/** A value as `param_*` of ClickHouse's HTTP interface; the bench's own values hold nothing to escape. */
function parameterText(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return `[${value.map((item) => (typeof item === 'string' ? `'${item}'` : String(item))).join(',')}]`;
}
