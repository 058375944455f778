import { appendFile } from 'node:fs/promises';
import { calcPrice } from '@pydantic/genai-prices';
import { expect } from 'chai';
import { figuresOf, importInto, importScene } from './importing.js';
import { claudeCodeSession, codexSession, INPUT, MODEL, OUTPUT, SPANS_OF_TURN } from './transcripts.js';

const SESSION = '0199b1f0-0000-7000-8000-00000000000';

/** What a call of a turn costs at list price. */
const priceOf = (output: number) =>
  calcPrice({ input_tokens: 6010, cache_write_tokens: 1000, cache_read_tokens: 5000, output_tokens: output }, MODEL, {
    providerId: 'anthropic',
    timestamp: new Date('2026-09-01T12:00:00Z'),
  })?.total_price ?? NaN;

describe('an import of transcripts', function () {
  this.timeout(180_000);
  const scene = importScene();

  const claudeCode = (more: object = {}) =>
    importInto(scene.server, { from: 'claude-code', paths: [scene.folder.path], state: scene.folder.state, ...more });

  it('makes a session of a file, a trace of a turn and spans of calls and tools, counting usage once', async () => {
    await scene.folder.write('shop/s.jsonl', claudeCodeSession({ id: `${SESSION}1`, turns: 2 }));
    const report = await claudeCode();
    expect(report?.compared?.map(({ same }) => same)).to.deep.equal([true, true, true, true]);
    expect(report?.left).to.deep.equal([]);
    const figures = await figuresOf(scene.server);
    expect(figures).to.include({ count: 2 * SPANS_OF_TURN, input: 2 * INPUT, output: 2 * OUTPUT });
    expect(figures.cost).to.be.closeTo(2 * (priceOf(200) + priceOf(100)), 1e-9);
    const { json: sessions } = await scene.server.request('GET', '/sessions');
    expect(sessions).to.have.length(1);
    expect(sessions[0]).to.include({ id: `${SESSION}1`, trace_count: 2, name: 'Fix the test of 0199b1f0-0' });
    const { json: spans } = await scene.server.request('GET', '/spans?sort_by=started_at&sort_order=asc&limit=4');
    const [root] = spans.filter(({ kind }: { kind: string }) => kind === 'agent');
    const [first, second] = spans.filter(({ kind }: { kind: string }) => kind === 'llm');
    const [tool] = spans.filter(({ kind }: { kind: string }) => kind === 'tool');
    expect(root).to.deep.include({ kind: 'agent', parent_span_id: null, output_data: 'Done.', duration_ms: 6000 });
    expect(root.tags).to.deep.include({ cwd: '/home/ada/shop', project: 'shop', git_branch: 'main' });
    expect(first).to.include({ kind: 'llm', model: MODEL, cache_read_tokens: 5000, parent_span_id: root.id });
    expect(first.started_at).to.equal('2026-09-01T12:00:00.000000Z');
    expect(tool).to.include({ kind: 'tool', name: 'Bash', output_data: 'a.ts\nb.ts', duration_ms: 2000, status: 'ok' });
    expect(second).to.include({ kind: 'llm', output_data: 'Done.', parent_span_id: root.id });
  });

  it('changes nothing when it is repeated, and adds what came since', async () => {
    const path = await scene.folder.write('s.jsonl', claudeCodeSession({ id: `${SESSION}1`, turns: 2 }));
    await claudeCode();
    const before = await figuresOf(scene.server);
    expect((await claudeCode())?.compared?.every(({ same }) => same)).to.equal(true);
    expect((await claudeCode({ restart: true }))?.compared?.every(({ same }) => same)).to.equal(true);
    expect(await figuresOf(scene.server)).to.deep.equal(before);
    await appendFile(path, claudeCodeSession({ id: `${SESSION}1`, turns: 1, prefix: 'later' }));
    await scene.folder.write('t.jsonl', claudeCodeSession({ id: `${SESSION}2`, turns: 1, prefix: 'other' }));
    const report = await claudeCode();
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(report?.tally).to.include({ spans: 4 * SPANS_OF_TURN, traces: 4 });
    expect((await figuresOf(scene.server)).count).to.equal(4 * SPANS_OF_TURN);
  });

  it('goes on where it was cut off', async () => {
    for (const name of ['1', '2', '3'])
      await scene.folder.write(`${name}.jsonl`, claudeCodeSession({ id: SESSION + name, turns: 3, prefix: name }));
    for (const cutAfter of [4, 9]) expect(await claudeCode({ cutAfter })).to.equal(null);
    const report = await claudeCode();
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(report?.tally).to.include({ spans: 9 * SPANS_OF_TURN });
    expect(await figuresOf(scene.server)).to.include({ count: 9 * SPANS_OF_TURN, input: 9 * INPUT });
  });

  it('counts once what a session repeats that another goes on from', async () => {
    const copied = claudeCodeSession({ id: `${SESSION}1`, turns: 2 });
    await scene.folder.write('1.jsonl', copied);
    const own = claudeCodeSession({ id: `${SESSION}2`, turns: 1, prefix: 'own' });
    await scene.folder.write('2.jsonl', copied.replaceAll(`${SESSION}1`, `${SESSION}2`) + own);
    const report = await claudeCode();
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(await figuresOf(scene.server)).to.include({ count: 3 * SPANS_OF_TURN, input: 3 * INPUT });
  });

  it('names broken lines, leaves out images, and takes the rest', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const [first = '', ...rest] = claudeCodeSession({ id: `${SESSION}1`, turns: 1 })
      .trimEnd()
      .split('\n');
    const withImage = rest.map((line) => line.replace('"a.ts\\nb.ts"', JSON.stringify([image])));
    const path = await scene.folder.write(
      's.jsonl',
      [first, '{"type":', ...withImage, '{"type":"user","mess'].join('\n'),
    );
    const report = await claudeCode();
    expect(report?.left).to.deep.equal([
      { why: 'the line is no JSON object', count: 1, examples: [`${path}:2`] },
      { why: 'images in transcripts are not imported', count: 1, examples: [path] },
    ]);
    expect((await figuresOf(scene.server)).count).to.equal(SPANS_OF_TURN);
  });

  it('puts subagents of older versions below the tool that called them, and those with a file into a trace of their own', async () => {
    const common = { sessionId: `${SESSION}1`, cwd: '/w', version: '1.0.60', isSidechain: false };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const answer = (id: string, content: object) => ({
      id,
      role: 'assistant',
      model: MODEL,
      content: [content],
      usage,
    });
    const time = (second: number) => `2026-09-01T12:00:0${second}Z`;
    const task = { type: 'tool_use', id: 'toolu_task', name: 'Task', input: { prompt: 'Look around' } };
    const said = (text: string) => ({ type: 'text', text });
    const own = { ...common, isSidechain: true };
    const lines = [
      { ...common, type: 'user', uuid: 'u1', timestamp: time(0), message: { role: 'user', content: 'Go' } },
      { ...common, type: 'assistant', uuid: 'a1', timestamp: time(1), message: answer('m1', task) },
      {
        ...own,
        type: 'user',
        uuid: 's1',
        parentUuid: null,
        timestamp: time(2),
        message: { role: 'user', content: 'Look around' },
      },
      {
        ...own,
        type: 'assistant',
        uuid: 's2',
        parentUuid: 's1',
        timestamp: time(3),
        message: answer('m2', said('Seen')),
      },
      {
        ...{ ...common, type: 'user', uuid: 'u2', timestamp: time(4), toolUseResult: { agentId: 'ad2d877' } },
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_task', content: [said('Seen')] }],
        },
      },
    ];
    const asText = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
    await scene.folder.write('s.jsonl', asText(lines));
    const agent = { ...own, agentId: 'ad2d877' };
    await scene.folder.write(
      `${SESSION}1/subagents/agent-ad2d877.jsonl`,
      asText([
        { ...agent, type: 'user', uuid: 'g1', timestamp: time(2), message: { role: 'user', content: 'Look' } },
        { ...agent, type: 'assistant', uuid: 'g2', timestamp: time(3), message: answer('m3', said('Seen')) },
      ]),
    );
    expect((await claudeCode())?.compared?.every(({ same }) => same)).to.equal(true);
    const { json: spans } = await scene.server.request('GET', '/spans?limit=50');
    const byName = (name: string) => spans.filter((span: { name: string }) => span.name === name);
    const [tool] = byName('Task');
    expect(tool.attributes).to.include({ agent_id: 'ad2d877' });
    const inline = byName('Claude Code subagent').find(
      (span: { parent_span_id: unknown }) => span.parent_span_id !== null,
    );
    expect(inline.parent_span_id).to.equal(tool.id);
    expect(
      byName(MODEL).filter((span: { parent_span_id: unknown }) => span.parent_span_id === inline.id),
    ).to.have.length(1);
    const { json: sessions } = await scene.server.request('GET', '/sessions');
    expect(sessions.map(({ trace_count }: { trace_count: number }) => trace_count)).to.deep.equal([2]);
  });

  it('reads those of Codex, whose tokens are told again and again', async () => {
    await scene.folder.write('2026/09/01/rollout-1.jsonl', codexSession(`${SESSION}5`));
    const given = { from: 'codex', paths: [scene.folder.path], state: scene.folder.state };
    const report = await importInto(scene.server, given);
    expect(report?.compared?.every(({ same }) => same)).to.equal(true);
    expect(await figuresOf(scene.server)).to.include({ count: 4, input: 2100, output: 70 });
    await importInto(scene.server, { ...given, restart: true });
    expect(await figuresOf(scene.server)).to.include({ count: 4, input: 2100, output: 70 });
    const { json: spans } = await scene.server.request('GET', '/spans?sort_by=started_at&sort_order=asc&span_kind=llm');
    expect(spans[1]).to.include({ model: 'gpt-5', cache_read_tokens: 1000, output_data: 'There is a.ts.' });
    expect(spans[1].cost).to.be.greaterThan(0);
    const { json: traces } = await scene.server.request('GET', '/traces');
    expect(traces[0]).to.include({ root_span_input: 'List the files', session_id: `${SESSION}5` });
    expect(traces[0].tags).to.include({ git_branch: 'dev' });
  });
});
