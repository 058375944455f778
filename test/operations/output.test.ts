import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EXPORT_PATH } from '../../src/otlp/grpc/trace-service.js';
import { ScriptedModel, verdict } from '../learning/scripted-model.js';
import { span, uuid } from '../harness/checked-api.js';
import { otlpSpan, request, toProtobuf } from '../otlp/requests.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program, PROJECT_ID } from '../harness/program.js';

/** More than the ten listeners from which on Node.js warns of a leak. */
const AT_ONCE = 40;
const times = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, i) => work(i)));

describe('what the program prints', function () {
  this.timeout(90_000);
  let dataDir: string;
  let model: ScriptedModel;
  let program: Program | null = null;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-quiet-');
    model = await ScriptedModel.start(() => verdict(true));
    model.delayMs = 200;
  });
  after(async () => {
    await program?.destroy();
    await model.stop();
    await removeDirectory(dataDir);
  });

  const start = async (env: Readonly<Record<string, string>> = {}) => {
    program = await Program.start(dataDir, {
      NODE_OPTIONS: '--trace-warnings',
      OTLP_GRPC_PORT: '0',
      JUDGE_LLM_BASE_URL: model.url,
      JUDGE_LLM_MODEL: 'gpt-4o-mini',
      JUDGE_CONCURRENCY: String(AT_ONCE),
      ...env,
    });
    return program;
  };

  async function writeAndRead(on: Program): Promise<void> {
    const answers = await times(async (index) => {
      const more = { kind: 'llm', input_data: `question ${index}`, output_data: 'answer' };
      const written = await on.request('POST', '/spans', [span(index, more)]);
      const read = await on.request('GET', ['/spans?q=question', '/traces', '/sessions', '/metrics'][index % 4] ?? '');
      return [written.status, read.status];
    });
    expect(answers.flat().filter((code) => code !== 200 && code !== 0)).to.deep.equal([]);
  }

  /** Clients that go away in the middle of a read. */
  async function leave(on: Program): Promise<void> {
    await times(async (index) => {
      const response = fetch(`${on.url}/spans?q=question&count=true`, {
        headers: { authorization: `Bearer ${on.key}` },
        signal: AbortSignal.timeout(1 + index),
      });
      await response.then((answer) => answer.text()).catch(() => undefined);
    });
  }

  async function exportByGrpc(on: Program): Promise<void> {
    const { grpc_port } = JSON.parse(on.log.find((line) => line.includes('"Listening"')) ?? '{}') as {
      grpc_port: number;
    };
    const client = new Client(`127.0.0.1:${grpc_port}`, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${on.key}`);
    const asIs = (bytes: Buffer) => bytes;
    const message = Buffer.from(toProtobuf(request([otlpSpan()])));
    const codes = await times(
      () =>
        new Promise<status>((resolve) => {
          client.makeUnaryRequest(EXPORT_PATH, asIs, asIs, message, metadata, (error) =>
            resolve(error?.code ?? status.OK),
          );
        }),
    );
    client.close();
    expect(new Set(codes)).to.deep.equal(new Set([status.OK]));
  }

  async function judge(on: Program): Promise<void> {
    const judges = `/projects/${PROJECT_ID}/judges`;
    const body = { name: 'tester', evaluation_type: 'binary', prompt: 'Is it right?', sample_rate: 0 };
    const { json } = await on.request('POST', judges, body);
    const ids = Array.from({ length: AT_ONCE }, (_, index) => uuid(index));
    expect((await on.request('POST', `${judges}/${json.id}:run`, { span_ids: ids })).status).to.equal(202);
    const evaluations = `${judges}/${json.id}/evaluations?limit=1`;
    for (let total = 0; total < AT_ONCE;) ({ total } = (await on.request('GET', evaluations)).json);
  }

  it('a start, much at once and a stop bring no warning, and no line twice', async () => {
    const on = await start();
    await writeAndRead(on);
    await leave(on);
    await exportByGrpc(on);
    await judge(on);
    on.signal('SIGTERM');
    on.signal('SIGINT');
    expect(await on.ended).to.deep.equal({ code: 0, signal: null });
    expect(on.stderr).to.equal('');
    expect(on.complaints()).to.equal('');
    const lines = on.printed
      .map((line) => line.replace(/"timestamp":"[^"]*"/, '').trim())
      .filter((line) => line !== '');
    expect(lines.filter((line, index) => lines.indexOf(line) !== index)).to.deep.equal([]);
  });

  it('a first start prints what to export and to send, to be copied as it stands', async () => {
    const fresh = await freshDataDir('spanhouse-first-');
    program = Program.spawn(fresh, { SPANHOUSE_INIT_PROJECT_ID: '', SPANHOUSE_INIT_API_KEY: '' });
    try {
      const commands = () => program!.printed.filter((line) => /^ {2}(export|curl) /.test(line));
      const deadline = performance.now() + 30_000;
      while (commands().length < 3 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 20));
      expect(commands()[0]).to.match(
        /^ {2}export SPANHOUSE_KEY=sk_\S+ SPANHOUSE_PROJECT=[0-9a-f-]{36} SPANHOUSE_URL=http:\/\/127\.0\.0\.1:\d+$/,
      );
      const ask =
        'curl -sS "$SPANHOUSE_URL/projects/$SPANHOUSE_PROJECT/judges" -H "Authorization: Bearer $SPANHOUSE_KEY"';
      const script = [...commands(), ask].join('; echo; ');
      const { stdout } = await promisify(execFile)('sh', ['-c', script]);
      const [sent, traces, judges] = stdout.split('\n').filter((line) => line !== '');
      expect(JSON.parse(sent ?? '')[0]).to.include({ name: 'hello' });
      expect(JSON.parse(traces ?? '')[0]).to.include({ span_count: 1 });
      expect(judges).to.equal('[]');
    } finally {
      await program.destroy();
      await removeDirectory(fresh);
    }
  });

  it('for people, where it listens is said once', async () => {
    program = Program.spawn(dataDir, { LOG_FORMAT: 'pretty', OTLP_GRPC_PORT: '0' });
    const deadline = performance.now() + 30_000;
    const addresses = () => program!.printed.filter((line) => /http:\/\/127\.0\.0\.1:\d+/.test(line));
    while (addresses().length === 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 20));
    program.signal('SIGTERM');
    expect(await program.ended).to.deep.equal({ code: 0, signal: null });
    const [ready, consoles, ...more] = addresses();
    expect(ready).to.match(/^Spanhouse is ready at http:\S+, OTLP over gRPC on port \d+$/);
    expect(consoles).to.match(/^Console: http:\S+\/console \(npm run admin -- signin prints a sign-in link\)$/);
    expect(more).to.deep.equal([]);
    expect(program.stderr).to.equal('');
  });
});
