import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { mediaIdOf } from '../../src/engine/traces/model/media-reference.js';
import { download } from '../attachments/attachment-api.js';
import { base64, png, sha } from '../attachments/images.js';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';
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
    const { python, install } = pythonWith({
      folder: `spanhouse-test-langfuse-python-${version}`,
      packages: [`langfuse==${version}`],
      check: 'import langfuse',
    });
    before(async function () {
      await requireInstalled(this, install());
      server = await bootServer();
    });
    after(() => server?.dispose());

    const isOld = version.startsWith('2');
    /** Runs a program with a client. @returns the JSON that it prints last */
    async function run(program: string): Promise<any> {
      const env = {
        ...{ PATH: process.env['PATH'], LANGFUSE_SECRET_KEY: server.key, LANGFUSE_HOST: server.url },
        LANGFUSE_PUBLIC_KEY: `pk-sh-${server.projectId}`,
      };
      const start = isOld
        ? 'from langfuse import Langfuse\nclient = Langfuse()'
        : 'from langfuse import get_client\nclient = get_client()';
      const { stdout, stderr } = await execute(python, ['-c', `import json\n${start}\n${program}`], { env });
      expect(stderr).to.not.match(/error/i);
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
    }

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

    it('makes prompts, gets them by label and version, and moves labels', async () => {
      const read = await run(`
made = client.create_prompt(name="py/greeter", prompt="Greet {{name}}.", config={"temperature": 0}, labels=["production"], tags=["shop"], commit_message="First")
client.create_prompt(name="py/greeter", prompt="Hail {{name}}.", labels=["staging"])
client.create_prompt(name="py/chat", type="chat", prompt=[{"role": "system", "content": "You help {{shop}}."}], labels=["production"])
chat = client.get_prompt("py/chat", type="chat")
first = client.get_prompt("py/greeter")
client.update_prompt(name="py/greeter", version=2, new_labels=["production"])
second = client.get_prompt("py/greeter", cache_ttl_seconds=0)
print(json.dumps([first.compile(name="Ann"), first.config, first.version, second.compile(name="Ann"), client.get_prompt("py/greeter", version=1).prompt, chat.compile(shop="Lampen")[0]["content"]]))`);
      expect(read).to.deep.equal([
        ...['Greet Ann.', { temperature: 0 }, 1, 'Hail Ann.', 'Greet {{name}}.', 'You help Lampen.'],
      ]);
    });

    it('makes datasets with items, and runs an experiment on them', async () => {
      const dataset = `
client.create_dataset(name="py/capitals", description="Capitals")
client.create_dataset_item(dataset_name="py/capitals", id="py-de", input="Germany", expected_output="Berlin")
client.create_dataset_item(dataset_name="py/capitals", id="py-fr", input="France", expected_output="Paris", metadata={"n": 2})
dataset = client.get_dataset("py/capitals")`;
      const linked = `
for item in dataset.items:
    trace = client.trace(name="capital", input=item.input)
    trace.update(output="Berlin")
    trace.score(name="correct", value=1)
    item.link(trace, "first run", run_description="Linked")
client.flush()
print(json.dumps([None, [item.id for item in dataset.items], dataset.id]))`;
      const experiment = `
def task(*, item, **kwargs):
    with client.start_as_current_${version.startsWith('3') ? 'span' : 'observation'}(name="step") as span:
        span.update(output="a step")
    return "Berlin"
def correct(*, input, output, expected_output, **kwargs):
    from langfuse import Evaluation
    return Evaluation(name="correct", value=1.0 if output == expected_output else 0.0)
def mean(*, item_results, **kwargs):
    from langfuse import Evaluation
    return Evaluation(name="mean", value=0.5)
result = dataset.run_experiment(name="capitals", run_name="first run", description="Linked", task=task, evaluators=[correct], run_evaluators=[mean])
client.flush()
print(json.dumps([result.dataset_run_url, [item.id for item in dataset.items], dataset.id]))`;
      const [url, items, datasetId] = await run(`${dataset}\n${isOld ? linked : experiment}`);
      expect(items).to.deep.equal(['py-de', 'py-fr']);
      const found = (await server.request('GET', `/projects/${server.projectId}/experiments?name=first%20run`)).json
        .experiments;
      expect(found.map(({ description, dataset: of }: any) => [description, of.id])).to.deep.equal([
        ['Linked', datasetId],
      ]);
      const path = `/projects/${server.projectId}/experiments/${found[0].id}`;
      const { results } = (await server.request('GET', `${path}/results`)).json;
      expect(results.map(({ row_id, output_data }: any) => [row_id, output_data])).to.deep.equal([
        ['py-de', 'Berlin'],
        ['py-fr', 'Berlin'],
      ]);
      if (isOld) return;
      expect(results.map(({ scores }: any) => scores.correct)).to.deep.equal([1, 0]);
      expect(url).to.equal(`${server.url}/project/${server.projectId}/datasets/${datasetId}/runs/${found[0].id}`);
      const metrics = await server.request('GET', path);
      expect(metrics.text).to.include('"correct"');
    });

    it('sends images and files in an input, and reads them back', async () => {
      const [image, pdf] = [png(20), `%PDF-1.7 ${version}`];
      const shown = `{"type": "image_url", "image_url": {"url": "data:image/png;base64,${base64(image)}"}}`;
      const file = `LangfuseMedia(content_bytes=b"${pdf}", content_type="application/pdf")`;
      const content = `[{"role": "user", "content": [${shown}]}, {"role": "user", "content": ${file}}]`;
      const media = isOld ? 'client.client.media' : 'client.api.media';
      const start = version.startsWith('3') ? 'span' : 'observation';
      const sent = isOld
        ? `trace = client.trace(name="shot", input=${content})
trace_id = trace.id`
        : `with client.start_as_current_${start}(name="shot", input=${content}):
    trace_id = client.get_current_trace_id()`;
      const [trace, read, resolved] = await run(`
from langfuse.media import LangfuseMedia
${sent}
client.flush()
read = ${media}.get("${mediaIdOf(sha(image))}")
resolved = client.resolve_media_references(obj="@@@langfuseMedia:type=image/png|id=" + read.media_id + "|source=bytes@@@", resolve_with="base64_data_uri")
print(json.dumps([trace_id, [read.content_type, read.content_length], resolved]))`);
      expect(read).to.deep.equal(['image/png', image.length]);
      expect(resolved).to.equal(`data:image/png;base64,${base64(image)}`);
      const [span] = (await server.request('GET', `/spans?trace_id=${trace}`)).json;
      expect(span.input_data).to.include('@@@langfuseMedia:type=image/png').and.not.include(base64(image));
      const { attachments } = (await server.request('GET', `/spans/${span.id}/attachments`)).json;
      expect(attachments.map(({ media_type }: any) => media_type)).to.deep.equal(['image/png', 'application/pdf']);
      const hashes = await Promise.all(attachments.map(({ url }: any) => download(url).then(sha)));
      expect(hashes).to.deep.equal([image, Buffer.from(pdf)].map(sha));
    });

    it('reads traces', async () => {
      const list = isOld ? 'client.fetch_traces(name="checkout").data' : 'client.api.trace.list(name="checkout").data';
      const get = isOld ? 'client.fetch_trace(trace.id).data' : 'client.api.trace.get(trace.id)';
      const [name, total, observations] = await run(`
trace = ${list}[0]
full = ${get}
print(json.dumps([trace.name, full.total_cost, [one.type for one in full.observations]]))`);
      expect([name, total]).to.deep.equal(['checkout', (1000 * 2.5 + 500 * 10) / 1e6]);
      expect(observations).to.include('GENERATION');
    });
  });
