import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { SpanRead } from '../../src/engine/traces/model/list/fields.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import type { SpanWrite } from './ledger.js';
import { audit } from './recount.js';
import { Crowd, type CrowdOptions } from './traffic.js';

const UNSAID = {
  parent_span_id: null,
  session_id: null,
  name: 'step',
  status: 'ok',
  started_at: '2026-01-15T10:00:00Z',
  ended_at: '2026-01-15T10:00:01Z',
  cost: 0.25,
  error_message: null,
} satisfies Partial<SpanWrite>;

/** Of clients: what else is done has to come to its end beside them. */
const PAUSE_MS = 100;

type Environment = Readonly<Record<string, string>>;

export interface MortalServerOptions extends CrowdOptions {
  readonly seed: number;
  readonly env?: Environment;
  /** How many clients write; default: 2. */
  readonly clients?: number;
}

/** A server that dies by kill -9 and is started again on its data and its port, with clients that write all the time. */
export class MortalServer {
  readonly dataDir: string;
  readonly crowd: Crowd;
  readonly #env: Environment;
  #program: Program;
  #quiet: () => Promise<void> = async () => undefined;

  private constructor(
    dataDir: string,
    program: Program,
    { seed, env = {}, clients = 2, ...crowd }: MortalServerOptions,
  ) {
    this.dataDir = dataDir;
    this.#program = program;
    this.#env = env;
    this.crowd = new Crowd(clients, seed, { pauseMs: PAUSE_MS, ...crowd });
  }

  static async start(options: MortalServerOptions): Promise<MortalServer> {
    const dataDir = await freshDataDir('spanhouse-mortal-');
    const server = new MortalServer(dataDir, await Program.start(dataDir, options.env), options);
    server.busy();
    return server;
  }

  get program(): Program {
    return this.#program;
  }

  /** Lets clients write. */
  busy(): void {
    this.#quiet = this.crowd.start(this.#program);
  }

  /** Resolves when no client writes any more. */
  async quiet(): Promise<void> {
    await this.#quiet();
  }

  async kill(): Promise<void> {
    await this.#program.destroy();
    await this.quiet();
  }

  async restart(): Promise<void> {
    this.#program = await Program.start(this.dataDir, { ...this.#env, PORT: new URL(this.#program.url).port });
    this.busy();
  }

  /** Writes spans that have to be taken; what is not said of one is that of all. */
  async write(spans: readonly Partial<SpanWrite>[]): Promise<void> {
    const { ledger } = this.crowd;
    const writes = spans.map((span): SpanWrite => {
      const rev = ledger.revision();
      const own = {
        input_data: `${span.input_data ?? ''} ${rev}`,
        trace_tags: { last: String(rev) },
        attributes: { rev },
      };
      return { ...UNSAID, id: randomUUID(), trace_id: randomUUID(), ...span, ...own };
    });
    ledger.sentSpans(writes);
    ledger.acknowledgedSpans(writes, (await this.#program.ask('POST', '/spans', writes)) as SpanRead[]);
  }

  /** How many spans have to be there. */
  get spans(): number {
    return [...this.crowd.ledger.spans.acknowledgedKeys()].length;
  }

  /** Every acknowledged span is there once, nothing else is, and every figure is that of a recount. */
  async expectExact(): Promise<void> {
    await this.quiet();
    expect(await audit(this.#program, this.crowd.ledger)).to.deep.equal([]);
    expect(this.crowd.tally.wrong).to.deep.equal([]);
  }

  async dispose(): Promise<void> {
    await this.#program.destroy();
    await this.quiet();
    await removeDirectory(this.dataDir);
  }
}
