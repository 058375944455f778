import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);
const { python: binary, install } = pythonWith({
  folder: 'spanhouse-test-phoenix-python-3.5.0',
  packages: ['arize-phoenix-client==3.5.0', 'arize-phoenix-otel==0.17.2', 'pandas==2.3.3'],
  check: 'import phoenix.client, phoenix.otel, pandas',
});

describe("Phoenix's client for Python, unchanged", function () {
  this.timeout(400_000);
  let server: TestServer;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer({ env: { OTLP_GRPC_PORT: '0' } });
  });
  after(() => server?.dispose());

  /** Runs a program with the client. @returns the JSON that it prints last */
  async function python(program: string): Promise<any> {
    const env = {
      ...{ PATH: process.env['PATH'], PYTHONWARNINGS: 'ignore', PHOENIX_API_KEY: server.key },
      ...{ PHOENIX_ENDPOINT: `${server.url}/phoenix`, PHOENIX_COLLECTOR_ENDPOINT: server.url },
      PHOENIX_GRPC_PORT: String(server.grpcPort),
    };
    const { stdout } = await execute(binary, ['-c', program], { env });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
  }
  const get = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };

  it('makes datasets of examples and tables, adds to them, and reads them back', async () => {
    const said = await python(`
import json, pandas as pd
from phoenix.client import Client
client = Client()
made = client.datasets.create_dataset(name="asked", dataset_description="Some", examples=[
    {"input": {"q": "a"}, "output": {"a": "A"}, "metadata": {"level": 1}, "splits": "train", "id": "first"},
    {"input": {"q": "b"}, "output": {"a": "B"}, "splits": ["test"]},
])
more = client.datasets.add_examples_to_dataset(dataset="asked", inputs=[{"q": "c"}], outputs=[{"a": "C"}])
split = [e["input"] for e in client.datasets.get_dataset(dataset=made, splits=["test"])]
again = client.datasets.create_dataset(name="asked", examples=list(made.examples))
table = client.datasets.create_dataset(name="table", dataframe=pd.DataFrame({"q": ["x", "y"], "a": ["X", "Y"], "n": [1, 2]}), input_keys=["q"], output_keys=["a"], metadata_keys=["n"])
missing = None
try:
    client.datasets.get_dataset(dataset="missing")
except ValueError as error:
    missing = str(error)
print(json.dumps({
    "made": [[e["id"], e["input"], e["output"], e["metadata"]] for e in made.examples],
    "counts": [len(made), len(more), len(again)],
    "ids": [made.examples[0]["id"], again.examples[0]["id"], made.examples[1]["id"] == again.examples[1]["id"]],
    "split": split,
    "old": len(client.datasets.get_dataset(dataset="asked", version_id=more.version_id)),
    "versions": len(client.datasets.get_dataset_versions(dataset="asked")),
    "listed": [d["name"] for d in client.datasets.list()],
    "table": [[e["input"], e["output"], e["metadata"]] for e in table.examples],
    "frame": list(table.to_dataframe().columns),
    "missing": missing,
}))`);
    expect(said.made[0]).to.deep.equal(['first', { q: 'a' }, { a: 'A' }, { level: 1 }]);
    expect(said.counts).to.deep.equal([2, 3, 2]);
    expect(said.ids).to.deep.equal(['first', 'first', true]);
    expect(said).to.deep.include({ split: [{ q: 'b' }], old: 3, versions: 3, listed: ['asked', 'table'] });
    expect(said.table).to.deep.equal([
      [{ q: 'x' }, { a: 'X' }, { n: '1' }],
      [{ q: 'y' }, { a: 'Y' }, { n: '2' }],
    ]);
    expect(said.frame).to.deep.equal(['input', 'output', 'metadata']);
    expect(said.missing).to.include('Dataset not found');
    const { rows } = await get('/v1/datasets/asked/data');
    expect(rows[0]).to.deep.include({ row_id: 'first' });
  });

  it('runs experiments, evaluates them, resumes them, and reads them back', async () => {
    const said = await python(`
import json
from phoenix.client import Client
client = Client()
dataset = client.datasets.create_dataset(name="capitals", inputs=[{"q": "a"}, {"q": "b"}, {"q": "c"}], outputs=[{"a": "A"}, {"a": "X"}, {"a": "C"}])
failing = {"on": True}
seen = []
def upper(input):
    if input["q"] == "c" and failing["on"]:
        raise ValueError("no answer")
    return {"a": input["q"].upper()} if input["q"] != "b" else '{"a": "X"}'
def right(output, expected):
    seen.append(type(output).__name__)
    return output == expected
def tone(output):
    return "calm"
ran = client.experiments.run_experiment(dataset=dataset, task=upper, evaluators={"right": right, "tone": tone}, experiment_name="upper", experiment_metadata={"model": "none"}, retries=0)
experiment = client.experiments.get(experiment_id=ran["experiment_id"])
failing["on"] = False
client.experiments.resume_experiment(experiment_id=ran["experiment_id"], task=upper)
client.experiments.resume_evaluation(experiment_id=ran["experiment_id"], evaluators={"right": right, "tone": tone})
def length(output):
    return len(output)
read = client.experiments.get_experiment(experiment_id=ran["experiment_id"])
client.experiments.evaluate_experiment(experiment=read, evaluators=[length, right])
after = client.experiments.get(experiment_id=ran["experiment_id"])
counts = lambda e: [e["example_count"], e["successful_run_count"], e["failed_run_count"], e["missing_run_count"]]
print(json.dumps({
    "id": ran["experiment_id"], "runs": len(ran["task_runs"]), "counts": [counts(experiment), counts(after)], "seen": seen,
    "metadata": experiment["metadata"], "evaluations": sorted([e.name, e.result["score"], e.result["label"]] for e in read["evaluation_runs"] if e.name == "tone" or e.result["score"] == 0),
    "listed": [e["name"] for e in client.experiments.list(dataset_id=dataset.id)],
}))`);
    expect(said.runs).to.equal(3);
    expect(said.counts).to.deep.equal([
      [3, 2, 1, 0],
      [3, 3, 0, 0],
    ]);
    // A text stays a text, also where it says what JSON is.
    expect(said.seen).to.include.members(['dict', 'str']);
    expect(said).to.deep.include({ metadata: { model: 'none' }, listed: ['upper'] });
    expect(said.evaluations).to.deep.include(['tone', null, 'calm']).and.deep.include(['right', 0, 'False']);
    const path = `/projects/${server.projectId}/experiments`;
    const experiment = await get(`${path}/${said.id}`);
    expect(experiment).to.include({ name: 'upper', dataset_version: 1, rows: 3 });
    expect(experiment.figures).to.include({ results: 3, errors: 0 });
    const means = Object.fromEntries(experiment.figures.scores.map(({ name, mean }: any) => [name, mean]));
    expect(means.right).to.be.closeTo(2 / 3, 0.001);
    const { results } = await get(`${path}/${said.id}/results?rows=true`);
    const [first] = results.filter(({ output_data }: any) => output_data === '{"a":"A"}');
    const [task] = await get(`/spans?trace_id=${first.trace_id}&experiments=true`);
    expect(task).to.include({ name: 'Task: upper', kind: 'chain' });
    expect(task.tags).to.include({ project: 'upper' });
  });

  it('registers its tracing over HTTP and gRPC, and reads spans and annotations back', async () => {
    const said = await python(`
import json, os
from phoenix.client import Client
from phoenix.otel import register
def trace(project, **options):
    provider = register(project_name=project, batch=False, set_global_tracer_provider=False, verbose=False, **options)
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("answer", openinference_span_kind="llm") as span:
        span.set_attribute("llm.model_name", "gpt-4o")
        span.set_attribute("llm.token_count.prompt", 1000)
        span.set_attribute("llm.token_count.completion", 500)
        span.set_input("Where?")
        span.set_output("Here.")
    provider.shutdown()
    return format(span.get_span_context().span_id, "016x")
ids = [trace("shop", protocol="http/protobuf"), trace("market", protocol="grpc")]
client = Client()
client.spans.log_span_annotations(span_annotations=[{"span_id": ids[0], "name": "correct", "annotator_kind": "LLM", "result": {"score": 1, "label": "yes", "explanation": "It is."}}], sync=True)
client.spans.add_span_annotation(span_id=ids[0], annotation_name="tone", annotator_kind="HUMAN", label="calm", sync=True)
frame = client.spans.get_spans_dataframe(project_identifier="shop")
spans = client.spans.get_spans(project_identifier="market", span_kind="LLM")
found = client.spans.get_spans(project_identifier="shop", span_ids=[ids[0]])
annotations = client.spans.get_span_annotations(span_ids=[ids[0]], project_identifier="shop", include_annotation_names=["correct"])
notes = client.spans.get_span_annotations_dataframe(span_ids=[ids[0]], project_identifier="shop")
print(json.dumps({
    "ids": ids, "index": list(frame.index), "cells": [frame["name"].iloc[0], frame["span_kind"].iloc[0], frame["attributes.llm.model_name"].iloc[0], int(frame["attributes.llm.token_count.prompt"].iloc[0])],
    "time": str(frame["start_time"].dtype), "spans": [[s["context"]["span_id"], s["attributes"]["input.value"]] for s in spans], "found": len(found),
    "annotations": [[a["name"], a["annotator_kind"], a["result"]] for a in annotations], "notes": sorted(notes["annotation_name"]),
}))`);
    expect(said).to.deep.include({ index: [said.ids[0]], cells: ['answer', 'LLM', 'gpt-4o', 1000], found: 1 });
    expect(said.time).to.equal('datetime64[ns, UTC]');
    expect(said.spans).to.deep.equal([[said.ids[1], 'Where?']]);
    expect(said.annotations).to.deep.equal([['correct', 'LLM', { score: 1, label: 'yes', explanation: 'It is.' }]]);
    expect(said.notes).to.deep.equal(['correct', 'tone']);
    const spans = await get('/spans?names=answer&fields=kind,model,cost,tags');
    expect(spans.map(({ cost }: any) => cost)).to.deep.equal([0.0075, 0.0075]);
    expect(spans.map(({ tags }: any) => tags.project)).to.have.members(['shop', 'market']);
  });

  it('stores prompts, tags their versions, and fetches them as they were', async () => {
    const said = await python(`
import json
from phoenix.client import Client
from phoenix.client.types import PromptVersion
client = Client()
messages = [{"role": "system", "content": "Answer about {{topic}}."}, {"role": "user", "content": [{"type": "text", "text": "{{question}}"}]}]
first = client.prompts.create(name="support", prompt_description="Asks", prompt_metadata={"team": "a"}, version=PromptVersion(messages, model_name="gpt-4o", description="first"))
second = client.prompts.create(name="support", version=PromptVersion(messages, model_name="claude-x", model_provider="ANTHROPIC"))
client.prompts.tags.create(prompt_version_id=first.id, name="production", description="live")
tagged = client.prompts.get(prompt_identifier="support", tag="production")
missing = None
try:
    client.prompts.get(prompt_identifier="missing")
except ValueError as error:
    missing = str(error)
refused = []
for act in [lambda: client.prompts.update(prompt_identifier="support", prompt_description="x"), lambda: client.prompts.delete(prompt_identifier="missing")]:
    try:
        act()
    except Exception as error:
        refused.append(error.response.status_code if hasattr(error, "response") else str(error))
client.prompts.create(name="old", version=PromptVersion(messages, model_name="gpt-4o"))
client.prompts.delete(prompt_identifier="old")
print(json.dumps({
    "refused": refused,
    "ids": [first.id, tagged.id, client.prompts.get(prompt_identifier="support").id == second.id, client.prompts.get(prompt_version_id=second.id).id == second.id],
    "same": tagged._dumps() == first._dumps(), "tags": [tag["name"] for tag in client.prompts.tags.list(prompt_version_id=first.id)],
    "formatted": tagged.format(variables={"topic": "shops", "question": "Where?"}).messages, "missing": missing,
}))`);
    expect(said.ids).to.deep.equal([said.ids[0], said.ids[0], true, true]);
    expect(said).to.deep.include({ same: true, tags: ['production'], missing: 'Prompt not found: missing' });
    expect(said.refused).to.deep.equal([405, 'Prompt not found: missing']);
    expect((await server.request('GET', '/v1/tasks/old/prompt/latest')).status).to.equal(404);
    expect(said.formatted[0]).to.include({ role: 'system', content: 'Answer about shops.' });
    expect(JSON.stringify(said.formatted[1])).to.include('Where?');
    const prompt = await get('/v1/tasks/support/prompt/latest');
    expect(prompt).to.include({ model_id: 'anthropic/claude-x' });
  });

  it('reads sessions and their turns, annotates them, and goes on with an experiment on a split', async () => {
    const said = await python(`
import json
from phoenix.client import Client
from phoenix.otel import register
from openinference.instrumentation import using_session
provider = register(project_name="talk", batch=False, set_global_tracer_provider=False, verbose=False, protocol="http/protobuf")
tracer = provider.get_tracer("test")
old = register(project_name="old", batch=False, set_global_tracer_provider=False, verbose=False, protocol="http/protobuf")
for name in ["old-1", "old-2", "old-3"]:
    with using_session(name), old.get_tracer("test").start_as_current_span("turn"):
        pass
old.shutdown()
for question in ["Where?", "When?"]:
    with using_session("talk-1"), tracer.start_as_current_span("turn", openinference_span_kind="chain") as span:
        span.set_input(question)
        span.set_output("Here.")
provider.shutdown()
client = Client()
listed = client.sessions.list(project_name="talk")
turns = client.sessions.get_session_turns(session_id="talk-1")
client.sessions.add_session_annotation(session_id="talk-1", annotation_name="tone", label="kind", sync=True)
client.sessions.delete(session_id="old-1", timeout=60)
client.sessions.bulk_delete(session_ids=["old-1", "old-2"], timeout=60)
frame = client.sessions.get_sessions_dataframe(project_name="talk", limit=5)
dataset = client.datasets.create_dataset(name="halves", examples=[{"input": {"q": "a"}, "output": {}, "splits": "train"}, {"input": {"q": "b"}, "output": {}, "splits": "test"}])
test = client.datasets.get_dataset(dataset=dataset, splits=["test"])
ran = client.experiments.run_experiment(dataset=test, task=lambda input: input["q"], experiment_name="half")
seen = []
client.experiments.resume_experiment(experiment_id=ran["experiment_id"], task=lambda input: seen.append(input["q"]))
experiment = client.experiments.get(experiment_id=ran["experiment_id"])
print(json.dumps({
    "left": [s["session_id"] for s in client.sessions.list(project_name="old")],
    "listed": [[s["session_id"], s["project_id"], len(s["traces"])] for s in listed], "rows": list(frame["num_traces"].map(int)),
    "turns": [[turn["input"]["value"], turn["output"]["value"]] for turn in turns], "seen": seen,
    "counts": [experiment["example_count"], experiment["missing_run_count"]],
}))`);
    expect(said).to.deep.equal({
      ...{ listed: [['talk-1', 'talk', 2]], rows: [2], seen: [], counts: [1, 0], left: ['old-3'] },
      turns: [
        ['Where?', 'Here.'],
        ['When?', 'Here.'],
      ],
    });
    const scores = await get('/scores?entity_type=session');
    expect(scores.map(({ name, value }: any) => [name, value])).to.deep.include(['tone', 'kind']);
  });

  it('runs the program of the manual', async () => {
    const chapter = readFileSync(new URL('../../../src/http/manual/static/phoenix.md', import.meta.url), 'utf8');
    const [, program = ''] = /```python\n([^]*?)```/.exec(chapter) ?? [];
    await python(`${program}\nprint("\\nnull")`);
    const { experiments } = await get(`/projects/${server.projectId}/experiments?dataset=questions`);
    expect(experiments[0].figures).to.include({ results: 1, errors: 0 });
    expect(experiments[0].figures.scores[0]).to.include({ name: 'right', mean: 1 });
  });
});
