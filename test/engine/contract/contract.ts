import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient as Library } from '@clickhouse/client';
import { connect } from '../../../src/engine/traces/clickhouse/client/client.js';
import type { ClickHouseClient } from '../../../src/engine/traces/clickhouse/client/client.js';
import { addressed, supervised } from './engines.js';
import type { TestEngine } from './engines.js';
import { sql } from '../../../src/engine/traces/clickhouse/client/sql.js';

/** What the tests of the contract run on; set once they run. */
export class Tested {
  engine!: TestEngine;
  /** The client of the server. */
  client!: ClickHouseClient;
  /** The library itself, for what the client does not offer. */
  library!: Library;

  /** The library with other settings; what it fails with is for the test to look at, not for the log. */
  connect(more: Parameters<typeof createClient>[0] = {}): Library {
    return createClient({ ...this.engine.endpoint, log: { level: ClickHouseLogLevel.OFF }, ...more });
  }
}

/** Declares tests on each kind of engine, with an empty table `rows` of `id UInt64` and `t String` for every test. */
export function contract(declare: (on: Tested) => void): void {
  for (const [title, start] of [
    ['the embedded engine', supervised],
    ['an engine known by its address', addressed],
  ] as const) {
    describe(`ClickHouse contract: ${title}`, () => {
      const on = new Tested();

      before(async () => {
        on.engine = await start();
        on.client = connect(on.engine.endpoint);
        on.library = on.connect({ compression: { request: true, response: true } });
        await on.client.command(sql`CREATE TABLE rows (id UInt64, t String) ENGINE = MergeTree ORDER BY id`);
      });
      beforeEach(() => on.client.command(sql`TRUNCATE TABLE rows`));
      after(async () => {
        await on.client.close();
        await on.library.close();
        await on.engine.stop();
      });

      declare(on);
    });
  }
}

/** Texts that mean something to SQL, to formats or to neither. */
export const HOSTILE = [
  `O'Reilly "quoted" \`ticked\``,
  'back\\slash \\\\ \\n \\x41 \\N',
  "'; DROP TABLE rows; --",
  'line\nbreak\r\ttab\b\f\v',
  'blank\n\nline',
  'nul\0inside\0',
  'é ñ 漢字 😀 \u{10ffff}',
  '{name:String} $$here$$ /* comment */ -- end',
  '',
  '\\N',
];

/** A row of the table `rows`. */
export function rowBinary(id: number, text: string | Buffer): Buffer {
  const bytes = Buffer.from(text as string);
  const head: number[] = [];
  let rest = bytes.length;
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  head.push(rest);
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(BigInt(id));
  return Buffer.concat([number, Buffer.from(head), bytes]);
}

/** What a promise is rejected with; one that is not rejected fails the test. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it should have failed');
}

/** Checks until it holds, for a minute. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  const until = Date.now() + 60_000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
