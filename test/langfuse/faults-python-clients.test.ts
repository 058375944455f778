import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);

/** One of each line of versions, with a program that sends a trace, a generation in it and a score. */
const CLIENTS: readonly (readonly [version: string, program: string])[] = [
  [
    '2.60.10',
    `
client = Langfuse()
assert client.auth_check()
trace = client.trace(name="checkout", user_id="ann", session_id="shop-1", tags=["shop"], input="Where?")
generation = trace.generation(name="answer", model="gpt-4o", input=[{"role": "user", "content": "Where?"}])
client.flush()
generation.end(output="Here.", usage={"input": 1000, "output": 500})
trace.update(output="Here.")
trace.score(name="helpful", value=1)
trace_id = trace.id`,
  ],
  ...['3.15.0', '4.14.0'].map(
    (version) =>
      [
        version,
        `
client = get_client()
assert client.auth_check()
with client.start_as_current_${version.startsWith('3') ? 'span' : 'observation'}(name="checkout", input="Where?") as root:
    with client.start_as_current_${version.startsWith('3') ? 'generation(' : 'observation(as_type="generation", '}name="answer", model="gpt-4o", input="Where?") as generation:
        generation.update(output="Here.", usage_details={"input": 1000, "output": 500})
    root.update(output="Here.")
    trace_id = client.get_current_trace_id()
client.create_score(trace_id=trace_id, name="helpful", value=1)`,
      ] as const,
  ),
];

for (const [version, program] of CLIENTS)
  describe(`Langfuse's client for Python ${version}, unchanged`, function () {
    this.timeout(300_000);
    let server: TestServer;
    /** Kept for the next run. */
    const venv = join(tmpdir(), `spanhouse-test-langfuse-python-${version}`);
    const python = join(venv, 'bin', 'python');
    const works = () =>
      execute(python, ['-c', 'import langfuse']).then(
        () => true,
        () => false,
      );
    const isInstalled = async () => {
      if (await works()) return true;
      try {
        await execute('python3', ['-m', 'venv', venv]);
        await execute(python, ['-m', 'pip', 'install', '--quiet', `langfuse==${version}`], { timeout: 200_000 });
      } catch {
        return false;
      }
      return works();
    };
    before(async function () {
      if (!(await isInstalled())) {
        this.test!.parent!.title += ' (skipped: it cannot be installed here)';
        this.skip();
      }
      server = await bootServer();
    });
    after(() => server?.dispose());

    it('checks its keys, and sends a trace with a generation and a score', async () => {
      const env = {
        ...{ PATH: process.env['PATH'], LANGFUSE_SECRET_KEY: server.key, LANGFUSE_HOST: server.url },
        LANGFUSE_PUBLIC_KEY: `pk-sh-${server.projectId}`,
      };
      const imports = version.startsWith('2') ? 'Langfuse' : 'get_client';
      const code = `from langfuse import ${imports}\n${program}\nclient.flush()\nprint(trace_id)`;
      const { stdout } = await execute(python, ['-c', code], { env });
      const trace = stdout.trim().split('\n').at(-1) ?? '';
      const spans = (await server.request('GET', `/spans?trace_id=${trace}&sort_by=name&sort_order=asc`)).json;
      expect(spans.map(({ name }: any) => name)).to.deep.equal(['answer', 'checkout']);
      const cost = (1000 * 2.5 + 500 * 10) / 1e6;
      expect(spans[0]).to.include({ kind: 'llm', output_data: 'Here.', parent_span_id: spans[1].id, cost });
      const [stored] = (
        await server.request('GET', `/traces?id=${trace}&fields=scores,root_span_input,root_span_output`)
      ).json;
      expect(stored.scores).to.deep.equal({ helpful: 1 });
      expect(stored).to.include({ root_span_input: 'Where?', root_span_output: 'Here.' });
    });
  });
