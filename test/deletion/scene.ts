import { expect } from 'chai';
import { isHeldOut } from '../../src/features/trials/held-out.js';
import { images } from '../attachments/images.js';
import { idsOf, type LearningApi } from '../learning/learning-api.js';
import { examplesIn, shown, verdict, type Asked, type Said } from '../learning/scripted-model.js';
import { uuid } from '../harness/checked-api.js';
import { rowsHolding } from './tombstone-gc.js';

export type Doomed = 'span' | 'trace' | 'session';

const CONTENT = 'You sell lamps.';
/** The instruction of a judge whose model always refuses. */
const BROKEN = 'broken judge';

/** A word that stands in all texts of one span, and nowhere else. */
export const secretOf = (id: string) => `secret${id.replaceAll('-', '').slice(-8)}`;

/** Answers all that is asked here; candidates quote what they were learned from, as models do. */
export function scripted(asked: Asked): Said {
  const form = asked.response_format?.json_schema?.name;
  if (form === 'candidates') {
    const quoted = [...new Set(JSON.stringify(asked.messages).match(/secret[0-9a-f]{8}/g) ?? [])].join(' ');
    return JSON.stringify({
      candidates: [{ content: `${CONTENT} Like ${quoted}.`, rationale: `They said ${quoted}` }],
    });
  }
  if (form === 'comparison') return JSON.stringify({ reason: `about ${shown(asked, 'output')}`, equivalent: true });
  if (form !== 'verdict') return `bonjour ${asked.messages.at(-1)?.content ?? ''}`;
  if (asked.messages[0]?.content.includes(BROKEN) === true) return { status: 400 };
  return JSON.stringify({ ...(JSON.parse(verdict(true)) as object), reason: `I read ${shown(asked, 'input')}` });
}

/** Spans with everything that can hang on them, some of which are to be deleted. */
export interface Scene {
  readonly kind: Doomed;
  /** Of the span, trace or session to be deleted. */
  readonly id: string;
  /** Spans that go. */
  readonly doomed: readonly string[];
  /** Spans that stay. */
  readonly others: readonly string[];
  // Answers are looked into; a wrong guess at their shape fails an assertion.
  readonly judge: any;
  readonly slug: string;
  readonly optimization: string;
  readonly trial: string;
  /** A span that was evaluated when the judge had been told of all the others. */
  readonly told: string;
}

let scenes = 0;

export async function makeScene(api: LearningApi, kind: Doomed): Promise<Scene> {
  scenes += 1;
  const from = 700_000 + scenes * 1_000;
  const [trace, session, told] = [uuid(from + 900), uuid(from + 901), uuid(from + 902)];
  const slug = `lamps ${scenes}`;
  const ids = idsOf(from, 6, 6);
  const learned = ids.filter((id) => !isHeldOut(id));
  const held = ids.filter(isHeldOut);
  const doomed = kind === 'span' ? learned.slice(0, 1) : [...learned.slice(0, 1), ...held.slice(0, 1)];
  const others = ids.filter((id) => !doomed.includes(id));

  await api.expect(200, 'POST', `/v1/tasks/${encodeURIComponent(slug)}/prompt/versions/ensure`, {
    content: CONTENT,
    model_id: 'gpt-4o-mini',
  });
  await api.spans(ids.map((id) => completion(id, slug, doomed.includes(id) ? { kind, trace, session } : null)));
  const judge = await api.judge();
  await api.evaluate(judge, ids);
  const broken = await api.judge({ name: 'broken', prompt: BROKEN });
  await api.expect(202, 'POST', `${api.project}/judges/${broken.id}:run`, { span_ids: doomed });
  for (const id of ids) {
    const said = { thumbs_up: false, reason: `no, ${secretOf(id)}`, expected_output: `bonjour ${secretOf(id)}` };
    await api.review(judge, id, said);
    await api.expect(200, 'POST', `/v1/prompts/${encodeURIComponent(slug)}/completions/${id}/feedback`, said);
  }
  await api.spans([{ id: told, input_data: 'anything', output_data: 'else' }]);
  await api.evaluate(judge, [told]);
  const optimization = `${api.project}/prompts/${encodeURIComponent(slug)}/optimizations`;
  const trial = `${api.project}/judges/${judge.id}/calibration`;
  const [optimized, tried] = [
    await api.expect(202, 'POST', optimization, { candidates: 1 }),
    await api.expect(202, 'POST', `${trial}:evaluate`, {}),
  ];
  const scene = {
    kind,
    id: { span: doomed[0] ?? '', trace, session }[kind],
    doomed,
    others,
    judge,
    slug,
    optimization: `${optimization}/${optimized.id}`,
    trial: `${trial}/evaluations/${tried.id}`,
    told,
  };
  for (const job of [scene.optimization, scene.trial]) expect(await api.finished(job)).to.include({ status: 'done' });
  await api.until(async () => {
    const { runs } = await api.get(`${api.project}/judges/${broken.id}/runs?state=failed`);
    return runs.length === doomed.length ? true : null;
  });
  return scene;
}

function completion(id: string, slug: string, doom: { kind: Doomed; trace: string; session: string } | null) {
  const secret = secretOf(id);
  const image = { base64: images.png.toString('base64'), label: secret };
  return {
    id,
    input_data: JSON.stringify([
      { role: 'system', content: CONTENT },
      { role: 'user', content: `Where is ${secret}?` },
    ]),
    output_data: `There is ${secret}`,
    attributes: { task: slug, ...(doom === null ? {} : { attachments: [image] }) },
    ...(doom === null || doom.kind === 'span' ? {} : { trace_id: doom.kind === 'trace' ? doom.trace : id }),
    ...(doom?.kind === 'session' ? { session_id: doom.session, session_name: secret } : {}),
  };
}

export const remove = (api: LearningApi, { kind, id }: Pick<Scene, 'kind' | 'id'>) =>
  api.send('DELETE', `/${kind}s/${id}`);

/** All that was ever there of these spans: rows beside them, lists, calls of judges. */
export async function remainsOf(api: LearningApi, { doomed }: Pick<Scene, 'doomed'>): Promise<string[]> {
  const remains = rowsHolding(api.server.dataDir, [...doomed, ...doomed.map(secretOf)]);
  for (const id of doomed) {
    for (const list of ['spans', 'traces', 'sessions'])
      for (const found of await api.get(`/${list}?q=${secretOf(id)}`))
        remains.push(`${list}: ${JSON.stringify(found)}`);
    const attachments = await api.send('GET', `/spans/${id}/attachments`);
    if (attachments.status !== 404) remains.push(`attachments: ${attachments.text}`);
  }
  return remains;
}

/** What stays is as it was: the other spans with what was said of them, and the figures of jobs. */
export async function expectOthers(api: LearningApi, scene: Scene): Promise<void> {
  const [kept] = scene.others;
  const { summary } = await api.get(`${api.project}/feedback/span/${kept}`);
  expect(summary, 'feedback on another span').to.include({ human_feedback_count: 2, judge_evaluation_count: 1 });
  const { evaluations } = await api.get(`${api.project}/judges/${scene.judge.id}/evaluations?limit=100`);
  const evaluated = evaluations.map(({ span_id }: { span_id: string }) => span_id);
  expect(evaluated).to.include.members([...scene.others, scene.told]);
  const calibration = await api.get(`${api.project}/judges/${scene.judge.id}/calibration`);
  expect(calibration.count).to.equal(scene.others.length);
  const { result } = await api.get(scene.trial);
  expect(result.compared, 'figures of the trial').to.equal(6);
  expect(result.spans).to.have.length(scene.kind === 'span' ? 6 : 5);
  const optimization = await api.get(scene.optimization);
  expect(optimization.result.current.count, 'figures of the optimization').to.equal(6);
  expect(optimization.result.candidates, 'candidates that had read a deleted span').to.deep.equal([]);
}

/** Evaluates another span, and answers what the model was asked. */
export async function askAgain(api: LearningApi, asked: Asked[], scene: Scene): Promise<Asked> {
  const id = uuid(990_000 + (scenes += 1));
  await api.spans([{ id, input_data: 'Where is my lamp?', output_data: 'There' }]);
  asked.length = 0;
  await api.evaluate(scene.judge, [id]);
  const [request] = asked;
  if (request === undefined) throw new Error('the model was not asked');
  expect(examplesIn(request), 'examples of what is left').to.not.deep.equal([]);
  return request;
}
