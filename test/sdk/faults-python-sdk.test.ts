import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi } from '../prompts/prompt-api.js';

const VERSION = '0.10.4';
const { python: PYTHON, install } = pythonWith({
  folder: `spanhouse-test-python-sdk-${VERSION}`,
  packages: [`zeroeval[datasets]==${VERSION}`],
  check: 'import zeroeval, pyarrow',
});

const execute = promisify(execFile);

describe(`the Python SDK ${VERSION}, unchanged`, function () {
  this.timeout(240_000);
  let server: TestServer;
  let prompt: { id: string; prompt_id: string };
  before(async function () {
    await requireInstalled(this, install());
    server = await sharedServer();
    const { id } = (await promptApi(server).ensure('support', { content: 'Help.' })).json;
    prompt = { id, prompt_id: (await promptApi(server).get('support')).json.prompt_id };
  });
  after(() => server?.dispose());

  /** Runs a program with the SDK. @returns the JSON that it prints last */
  async function python(program: string): Promise<any> {
    const env = {
      ...{ PATH: process.env['PATH'], ZEROEVAL_API_KEY: server.key, ZEROEVAL_API_URL: server.url },
      ...{ ZEROEVAL_BASE_URL: server.url, PROMPT: JSON.stringify(prompt) },
    };
    // A file, as the SDK reads the code of tasks.
    const file = join(tmpdir(), `spanhouse-test-sdk-${process.pid}.py`);
    await writeFile(file, `import json, os\nimport zeroeval as ze\nze.init()\n${program}`);
    const { stdout } = await execute(PYTHON, [file], { env });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
  }
  const get = async (path: string) => (await server.request('GET', path)).json;
  const scoresOf = async (id: string) =>
    (await get(`/scores?entity_id=${id}`))
      .map(({ name, value }: { name: string; value: unknown }) => [name, value])
      .sort();

  it('sends spans, and signals of them and of their trace at once', async () => {
    const { span, trace, sent } = await python(`
with ze.span(name="answer", tags={"user": "ann"}) as span:
    span.set_io(input_data="Where?", output_data="Here.")
    sent = ze.set_signal(span, {"helpful": True, "rate": 0.5, "tone": "calm"})
    sent = ze.emit_signal("resolved", False, target=ze.get_current_trace(), immediate=True) and sent
ze.tracer.flush()
print(json.dumps({"span": span.span_id, "trace": span.trace_id, "sent": sent}))`);
    expect(sent).to.equal(true);
    expect(await get(`/spans/${span}`)).to.include({ name: 'answer', input_data: 'Where?', output_data: 'Here.' });
    expect(await scoresOf(span)).to.deep.equal([
      ['helpful', true],
      ['rate', 0.5],
      ['tone', 'calm'],
    ]);
    expect(await scoresOf(trace)).to.deep.equal([['resolved', false]]);
    expect((await get('/traces?scores.helpful=true&scores.resolved=false')).map(({ id }: any) => id)).to.deep.equal([
      trace,
    ]);
  });

  it('chooses variants, which lists find, until the test has ended', async () => {
    const choose = (days: number) => `
    chosen.append(ze.choose("model", variants={"a": "gpt-4o", "b": "gpt-5"}, weights={"a": 0.0, "b": 1.0},
                            duration_days=${days}, default_variant="a"))`;
    const { span, child, chosen } = await python(`
chosen = []
with ze.span(name="parent") as span:${choose(14)}
    with ze.span(name="child") as child:
        pass
with ze.span(name="late"):${choose(1e-9)}
ze.tracer.flush()
print(json.dumps({"span": span.span_id, "child": child.span_id, "chosen": chosen}))`);
    expect(chosen).to.deep.equal(['gpt-5', 'gpt-4o']);
    const found = (await get('/spans?scores.ab.model=b')).map(({ id }: any) => id);
    expect(found).to.have.members([span, child]);
    expect((await get(`/spans/${span}`)).attributes).to.not.have.property('ab_choices');
  });

  it('logs completions, and gives feedback on them', async () => {
    const record = await python(`
prompt = json.loads(os.environ["PROMPT"])
client = ze.PromptClient()
record = client.log_completion(prompt_slug="support", prompt_id=prompt["prompt_id"], prompt_version_id=prompt["id"],
    messages=[{"role": "user", "content": "Where?"}], output_text="Here.", model_id="gpt-4o-mini",
    prompt_tokens=12, completion_tokens=9, total_tokens=21, duration_ms=12.5)
client.send_feedback(prompt_slug="support", completion_id=record["id"], thumbs_up=False, reason="No.", expected_output="There.")
print(json.dumps(record))`);
    expect(await get(`/spans/${record.id}`)).to.include({ kind: 'llm', prompt_slug: 'support', output_data: 'Here.' });
    const { completions } = await get(`/projects/${server.projectId}/prompts/support/completions`);
    expect(completions[0]).to.include({ id: record.id, thumbs_down: 1, prompt_version: 1 });
  });

  it('pushes datasets and pulls them, of any version', async () => {
    const { numbers, pulled, first, same } = await python(`
data = ze.Dataset("support/from the SDK", data=[{"question": "Where?", "n": 1}, {"question": "When?", "n": 2}])
numbers = [data.push()._version_number]
ids = [row["row_id"] for row in data._data]
data.add_rows([{"question": "Who?", "n": 3}])
numbers.append(data.push()._version_number)
numbers.append(data.push()._version_number)
pulled = ze.Dataset.pull("support/from the SDK")
first = ze.Dataset.pull("support/from the SDK", version_number=1)
print(json.dumps({"numbers": numbers, "pulled": [row["question"] for row in pulled._data], "first": len(first._data),
                  "same": ids == [row["row_id"] for row in first._data]}))`);
    expect(numbers).to.deep.equal([1, 2, 2]);
    expect(pulled).to.deep.equal(['Where?', 'When?', 'Who?']);
    expect([first, same]).to.deep.equal([2, true]);
    const diff = await get('/v1/datasets/support/from the SDK/diff?from=1');
    expect(diff).to.include({ added: 1, changed: 0, removed: 0 });
  });

  it('tries a task on a dataset, repeats it, scores and measures the results, and resumes', async () => {
    const { id, repeated, metrics, resumed, ran, scorers } = await python(`
from zeroeval import task, evaluation
from zeroeval.core.execution import ExecutionConfig, RetryPolicy
rows = [{"question": str(n), "answer": str(n * 2)} for n in range(4)]
data = ze.Dataset("evals/from the SDK", data=rows)
data.push()
ran = []

@task(outputs=["pred"])
def double(row):
    ran.append(row["question"])
    if row["question"] == "3" and len(ran) <= 4:
        raise ValueError("too large")
    return {"pred": str(int(row["question"]) * 2)}

@evaluation(mode="row", outputs=["correct", "note"], output_formats={"correct": "percentage"})
def correct(row, answer, pred):
    return {"correct": answer == pred, "note": None if pred is None else "seen"}

@evaluation(mode="column", outputs=["accuracy"])
def accuracy(rows):
    return {"accuracy": sum(1 for row in rows if row.get("pred") == row["answer"]) / len(rows)}

@evaluation(mode="run", outputs=["runs"])
def runs(all_runs):
    return {"runs": len(all_runs)}

retry = ExecutionConfig(workers=1, retry=RetryPolicy(max_attempts=1))
run = data.eval(double, execution=retry, parameters={"temperature": 0}, model_id="gpt-4o")
column_map = {"answer": "answer", "pred": "pred"}
run.eval([correct], column_map=column_map)
runs_of = run.repeat(2)
for each in runs_of:
    each.column_metrics([accuracy])
runs_of.run_metrics([runs])
before = len(ran)
again = run.resume(retry_errors=True)
ze.tracer.flush()
print(json.dumps({"id": run.id, "repeated": len(runs_of), "metrics": run.metrics, "resumed": again.health["skipped_count"],
                  "ran": len(ran) - before, "scorers": [s.name for s in run._scorers]}))`);
    expect({ repeated, metrics, resumed, ran, scorers }).to.deep.equal({
      ...{ repeated: 2, metrics: { accuracy: 0.75, runs: 2 }, resumed: 3, ran: 1, scorers: ['correct'] },
    });
    const path = `/projects/${server.projectId}/experiments/${id}`;
    const experiment = await get(path);
    expect(experiment).to.deep.include({
      ...{ name: 'double', status: 'finished', rows: 4, repetitions: 2, subject: { model: 'gpt-4o' } },
    });
    expect(experiment.dataset.name).to.equal('evals/from the SDK');
    expect(experiment.parameters).to.include({ temperature: 0 });
    expect(experiment.figures).to.include({ results: 8, rows: 4, errors: 0 });
    const figures = Object.fromEntries(experiment.figures.scores.map((each: any) => [each.name, each]));
    expect(figures.note).to.include({ count: 7 });
    const { results } = await get(`${path}/results`);
    const rows = (await get('/v1/datasets/evals/from the SDK/data')).rows;
    expect(results.map(({ row_id }: any) => row_id)).to.have.members([...rows, ...rows].map(({ row_id }) => row_id));
    for (const { row_id, output_data, scores, trace_id, duration_ms } of results) {
      const { question, answer } = rows.find((row: any) => row.row_id === row_id).data;
      expect(JSON.parse(output_data)).to.deep.equal({ pred: answer });
      if (question !== '3') expect(scores).to.include({ correct: true });
      expect((await get(`/traces/${trace_id}`)).span_count).to.be.greaterThan(0);
      expect(duration_ms).to.be.a('number');
    }
    const summary = await get(`/v1/evals/${id}/summary`);
    expect(summary.status).to.equal('completed');
    const stated = ({ metric_name, run_number, results: said }: any) => [metric_name, run_number, said];
    expect(summary.column_metrics.map(stated)).to.deep.equal([
      ['accuracy', 1, { accuracy: 0.75 }],
      ['accuracy', 2, { accuracy: 1 }],
    ]);
    expect(summary.eval_metrics.map(stated)).to.deep.equal([['runs', null, { runs: 2 }]]);
    const [scorer] = await get(`/v1/evals/${id}/scorers`);
    expect(scorer).to.deep.include({
      name: 'correct',
      outputs: ['correct', 'note'],
      output_formats: { correct: 'percentage' },
    });
  });
});
