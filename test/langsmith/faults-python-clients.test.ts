import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);
const { python: binary, install } = pythonWith({
  folder: 'spanhouse-test-langsmith-python-0.15.1',
  packages: ['langsmith==0.15.1', 'langchain-core==1.8.3', 'langgraph==1.2.24'],
  check: 'import langsmith, langchain_core, langgraph.graph',
});

describe("LangSmith's client for Python, unchanged, with LangChain and LangGraph", function () {
  this.timeout(400_000);
  let server: TestServer;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer();
  });
  after(() => server?.dispose());

  /** Runs a program with the client. @returns the JSON that it prints last */
  async function python(program: string): Promise<any> {
    const env = {
      ...{ PATH: process.env['PATH'], LANGSMITH_TRACING: 'true', LANGSMITH_PROJECT: 'shop', PYTHONWARNINGS: 'ignore' },
      ...{ LANGSMITH_ENDPOINT: `${server.url}/langsmith`, LANGSMITH_API_KEY: server.key },
    };
    const { stdout, stderr } = await execute(binary, ['-c', program], { env });
    expect(stderr).to.not.match(/error|failed/i);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
  }
  const get = async (path: string) => {
    const { status, json, text } = await server.request('GET', path);
    expect(status, text).to.equal(200);
    return json;
  };

  it('traces functions, scores them, and reads them back', async () => {
    const { id, read, listed, feedback } = await python(`
import json
from langsmith import Client, traceable, get_current_run_tree
client = Client()
ids = {}
@traceable(run_type="llm", metadata={"ls_provider": "openai", "ls_model_name": "gpt-4o"})
def answer(messages):
    return {"role": "assistant", "content": "Here.", "usage_metadata": {"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500}}
@traceable(tags=["beta"], metadata={"session_id": "thread-1"})
def checkout(q):
    ids["id"] = get_current_run_tree().id
    return answer([{"role": "user", "content": q}])
@traceable
def failing():
    raise ValueError("no shop")
checkout("Where?")
try:
    failing()
except ValueError:
    pass
client.flush()
from langsmith.run_trees import get_cached_client
get_cached_client().flush()
score = client.create_feedback(ids["id"], "helpful", score=1, comment="yes")
client.update_feedback(score.id, score=0)
feedback = [each.score for each in client.list_feedback(run_ids=[ids["id"]])]
listed = [run.name for run in client.list_runs(project_name="shop")]
assert [run.name for run in client.list_runs(project_name="shop", filter='and(eq(run_type, "llm"), eq(error, null))')] == ["answer"]
tagged = [run.name for run in client.list_runs(project_name="shop", filter='has(tags, "beta")', error=False)]
assert "checkout" in tagged and "failing" not in tagged, tagged
assert [run.name for run in client.list_runs(project_name="shop", filter='eq(run_type, "llm")', trace_filter='has(tags, "beta")', tree_filter='eq(name, "checkout")')] == ["answer"]
run = client.read_run(ids["id"], load_child_runs=True)
print(json.dumps({"id": str(ids["id"]), "read": [str(run.total_cost), [child.name for child in run.child_runs]], "listed": listed, "feedback": feedback}))`);
    const spans = await get(`/spans?trace_id=${id}&sort_by=started_at&sort_order=asc`);
    expect(spans.map(({ name, kind, status }: any) => [name, kind, status])).to.deep.equal([
      ['checkout', 'chain', 'ok'],
      ['answer', 'llm', 'ok'],
    ]);
    expect(spans[1]).to.include({ model: 'gpt-4o', cost: (1000 * 2.5 + 500 * 10) / 1e6, session_name: 'thread-1' });
    const [trace] = await get(`/traces?id=${id}&project=shop&beta=true&fields=scores,cost`);
    expect(trace).to.deep.equal({ scores: { helpful: 0 }, cost: spans[1].cost });
    expect(read[1]).to.deep.equal(['answer']);
    expect(listed).to.have.members(['checkout', 'answer', 'failing']);
    expect(feedback).to.deep.equal([0]);
    const [failed] = await get('/spans?names=failing');
    expect(failed).to.include({ status: 'error', error_code: 'ValueError' });
    expect(failed.error_stack).to.include('Traceback');
  });

  it('traces chains of LangChain and graphs of LangGraph', async () => {
    await python(`
from typing import TypedDict
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.output_parsers import StrOutputParser
from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.graph import StateGraph, START, END
usage = {"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500}
model = GenericFakeChatModel(messages=iter([AIMessage(content="Here.", usage_metadata=usage)] * 2), metadata={"ls_model_name": "gpt-4o", "ls_provider": "openai"})
chain = ChatPromptTemplate.from_template("Where is {what}?") | model | StrOutputParser()
class State(TypedDict):
    what: str
    answer: str
graph = StateGraph(State)
graph.add_node("ask", lambda state: {"answer": chain.invoke({"what": state["what"]})})
graph.add_edge(START, "ask")
graph.add_edge("ask", END)
graph.compile().invoke({"what": "the shop"}, {"metadata": {"thread_id": "thread-2"}})
wait_for_all_tracers()
print("null")`);
    const [trace] = await get('/traces?names=LangGraph');
    const spans = await get(`/spans?trace_id=${trace.id}&sort_by=started_at&sort_order=asc`);
    expect(spans.map(({ kind }: any) => kind)).to.include.members(['chain', 'prompt', 'llm', 'parser']);
    expect(spans.every(({ ended_at, status }: any) => ended_at !== null && status === 'ok')).to.equal(true);
    const llm = spans.find(({ kind }: any) => kind === 'llm');
    expect(llm.input_data).to.include('Where is the shop?');
    expect(llm).to.include({ input_tokens: 1000, output_tokens: 500, session_name: 'thread-2' });
    expect(trace.cost).to.equal(llm.cost);
  });

  it('sends forms, with images, where it is told to', async () => {
    const id = await python(`
import base64, datetime, json, uuid
from langsmith import Client
client = Client()
png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
id = str(uuid.uuid4())
now = datetime.datetime.now(datetime.timezone.utc)
order = now.strftime("%Y%m%dT%H%M%S%fZ") + id
run = {"id": id, "trace_id": id, "dotted_order": order, "name": "form", "run_type": "chain", "inputs": {"a": 1}, "start_time": now}
client.multipart_ingest(create=[{**run, "attachments": {"shot": ("image/png", png), "notes": ("text/plain", b"x")}}])
client.multipart_ingest(update=[{"id": id, "trace_id": id, "dotted_order": order, "outputs": {"b": 2}, "end_time": now}])
print(json.dumps(id))`);
    const [span] = await get(`/spans?trace_id=${id}`);
    expect(span).to.include({ name: 'form', output_data: '{"b":2}', status: 'ok' });
    expect(await get(`/spans/${id}/attachments`)).to.include({ count: 1 });
  });

  it('attaches files to examples, and evaluates with them', async () => {
    const read = await python(`
import json
from langsmith import Client, evaluate
client = Client()
dataset = client.create_dataset("attached")
png = __import__("base64").b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
example = client.create_examples(dataset_id=dataset.id, examples=[{"inputs": {"q": "a"}, "outputs": {"a": 3}, "attachments": {"shot": {"mime_type": "image/png", "data": png}, "note": {"mime_type": "text/plain", "data": b"abc"}}}])
[first] = list(client.list_examples(dataset_id=dataset.id, include_attachments=True))
seen = []
def length(inputs, attachments):
    seen.append(sorted(attachments))
    return {"a": len(attachments["note"]["reader"].read())}
results = list(evaluate(length, data=client.list_examples(dataset_id=dataset.id, include_attachments=True), client=client, evaluators=[lambda outputs, reference_outputs: {"key": "same", "score": outputs == reference_outputs}]))
client.update_example(first.id, dataset_id=dataset.id, attachments_operations={"rename": {"note": "text"}, "retain": []})
after = client.read_example(first.id)
client.flush()
print(json.dumps({
    "read": [first.attachments["shot"]["reader"].read() == png, first.attachments["shot"]["mime_type"]], "seen": seen,
    "scores": [each["evaluation_results"]["results"][0].score for each in results], "after": [[name, file["reader"].read().decode()] for name, file in after.attachments.items()],
}))`);
    expect(read).to.deep.equal({
      ...{ read: [true, 'image/png'], seen: [['note', 'shot']], scores: [true], after: [['text', 'abc']] },
    });
  });

  it('evaluates', async () => {
    await python(`
import json
from langsmith import Client, evaluate
client = Client()
dataset = client.create_dataset("asked", description="Some")
client.create_examples(dataset_id=dataset.id, examples=[
    {"inputs": {"q": "a"}, "outputs": {"a": "A"}, "metadata": {"level": 1}},
    {"inputs": {"q": "b"}, "outputs": {"a": "X"}},
])
client.create_example(inputs={"q": "c"}, outputs={"a": "C"}, dataset_id=dataset.id)
def right(outputs, reference_outputs):
    return {"key": "right", "score": int(outputs["a"] == reference_outputs["a"])}
def overall(outputs):
    return {"key": "overall", "score": len(outputs)}
results = evaluate(lambda inputs: {"a": inputs["q"].upper()}, data="asked", client=client, experiment_prefix="upper", evaluators=[right], summary_evaluators=[overall])
rows = list(results)
client.flush()
assert len(rows) == 3
assert len(list(client.list_runs(project_name=results.experiment_name, is_root=True))) == 3
twice = evaluate(lambda inputs: {"a": inputs["q"]}, data="asked", client=client, experiment_prefix="twice", evaluators=[right], num_repetitions=2)
assert len(list(twice)) == 6
client.flush()
print("null")`);
    const path = `/projects/${server.projectId}/experiments`;
    const { experiments: all } = await get(path);
    const experiments = all.filter(({ name }: any) => /^(?:twice|upper)-/.test(name));
    expect(experiments).to.have.length(2);
    const twice = experiments.shift();
    expect(twice).to.include({ status: 'finished', repetitions: 2 });
    expect(twice.figures).to.include({ results: 6, rows: 3 });
    expect(experiments[0]).to.include({ status: 'finished' });
    expect(experiments[0].figures).to.include({ results: 3, rows: 3, errors: 0 });
    const [right] = experiments[0].figures.scores.filter(({ name }: any) => name === 'right');
    expect(right).to.include({ count: 3 });
    expect(right.mean).to.be.closeTo(2 / 3, 0.001);
    const { results } = await get(`${path}/${experiments[0].id}/results?rows=true`);
    expect(results.map(({ output_data }: any) => output_data)).to.have.members(['{"a":"A"}', '{"a":"B"}', '{"a":"C"}']);
  });

  it('runs the program of the manual', async () => {
    const chapter = readFileSync(new URL('../../../src/http/manual/static/langsmith.md', import.meta.url), 'utf8');
    const [, program = ''] = /```python\n([^]*?)```/.exec(chapter) ?? [];
    await python(`${program}\nclient.flush()\nprint("\\nnull")`);
    const { experiments } = await get(`/projects/${server.projectId}/experiments?dataset=questions`);
    expect(experiments[0].figures).to.include({ results: 1, errors: 0 });
    expect(experiments[0].figures.scores[0]).to.include({ name: 'right', mean: 1 });
  });
});
