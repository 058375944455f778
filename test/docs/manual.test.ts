import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { answersOf, blocks, chapter, readme, run, section, shortForms } from './commands.js';

const FOLDER = new URL('../../../src/http/manual/static/', import.meta.url);

describe('manual', function () {
  this.timeout(60_000);
  let server: TestServer;
  let tags: {
    readonly name: string;
    readonly description: string;
    readonly externalDocs: { readonly url: string; readonly description: string };
  }[];
  before(async () => {
    server = await sharedServer();
    ({ tags } = (await server.request('GET', '/openapi.json', { key: null })).json);
  });
  after(() => server.dispose());

  it('has a chapter for every group of calls, which the OpenAPI document names in a sentence and a link', async () => {
    expect(tags.length).to.be.above(10);
    for (const { name, description, externalDocs } of tags) {
      expect(description, name).to.match(/^[^.\n]{10,120}\.$/);
      const page = await server.request('GET', externalDocs.url, { key: null });
      expect([name, page.status]).to.deep.equal([name, 200]);
      expect(page.text).to.include(`<h1>${externalDocs.description}</h1>`);
    }
  });

  it('says of every call where the console has it', async () => {
    const { paths } = (await server.request('GET', '/openapi.json', { key: null })).json;
    const calls = Object.values(paths as object).flatMap((path) => Object.values(path as object));
    const rows = chapter('console').split('## Find the screen of a call')[1] ?? '';
    const named = [...rows.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    // Those of other systems are for their clients.
    const own = calls.filter(({ tags: [tag] }) => !['Langfuse', 'LangSmith', 'Phoenix'].includes(tag));
    expect([...new Set(named)].sort()).to.deep.equal(own.map(({ operationId }) => operationId).sort());
  });

  it('has the short forms of curl that the README has, once', () => {
    expect(shortForms(readme)).to.include('house() {').and.include('span() {').and.include('pick() {');
    expect(shortForms(chapter('api-basics'))).to.equal(shortForms(readme));
    const everywhere = [readme, ...readdirSync(FOLDER).map((file) => chapter(file.replace('.md', '')))].join('\n');
    expect(everywhere.match(/^house\(\)/gm)).to.have.length(2);
  });

  it('names the path first wherever it asks by `house`, which takes it from there', () => {
    for (const file of readdirSync(FOLDER))
      expect(chapter(file.replace('.md', '')), file).not.to.match(/(?:^|[(|] ?)house (?!["']?[/$])\S+ .*\$SPANHOUSE/m);
  });

  for (const shell of ['bash', 'sh'] as const)
    it(`has short forms that keep spaces and take the server from SPANHOUSE_URL, in ${shell}`, async () => {
      const commands = `
        house /v1/tasks/my%20shop/prompt/versions/ensure -X POST -d '{"content": "You  help, \\"kindly\\"."}' | pick .content
        house /v1/prompts/my%20shop | pick .version
        span /traces -d 'q=two  words' -d 'environment=a & b' -d limit=1
        house /readyz | pick .status`;
      expect(await run(commands, server, {}, shell)).to.equal('You  help, "kindly".\n1\n[]\nready\n');
    });

  it('saves a view and builds a dashboard as it is written', async () => {
    const [saved = '', built = '', changed = ''] = blocks(chapter('dashboards'));
    expect(await answersOf(saved, server)).to.deep.equal([[]]);
    const [made, now] = await answersOf(`${built}\n${changed}`, server);
    expect([made.window, made.version, made.charts.length]).to.deep.equal(['7d', 1, 2]);
    expect(now).to.include({ window: '24h', version: 2 });
  });

  it('makes a prompt as it is written', async () => {
    const [created, ...others] = blocks(chapter('prompts'));
    expect(created, 'as the README has it').to.equal(section('prompt'));
    const [ensured, newest, pinned, tagged] = await answersOf(section('prompt'), server);
    for (const answer of [ensured, newest, tagged]) expect(answer).to.include({ version: 1 });
    expect(pinned).to.include({ tag: 'production', version: 1 });
    const [chat] = await answersOf(others.shift() ?? '', server);
    expect(chat).to.deep.include({ version: 1, config: { model: 'gpt-4o', temperature: 0.2 } });
    expect(chat.messages).to.have.length(3);
    const [history] = await answersOf(others[0] ?? '', server);
    expect(history.map(({ version }: { version: number }) => version)).to.deep.equal([1]);
    const [mistyped, ...removed] = await answersOf(others[1] ?? '', server);
    expect([mistyped, removed]).to.deep.equal([{ tag: 'prodution', version: 1 }, []]);
    const tagsNow = (await server.request('GET', `/projects/${server.projectId}/prompts/support/tags`)).json;
    expect(tagsNow.map(({ tag }: { tag: string }) => tag)).to.deep.equal(['latest', 'production']);
    const [second, ...none] = await answersOf(others[2] ?? '', server);
    expect(second).to.include({ version: 2, is_latest: true });
    expect(none, 'a deletion answers nothing').to.deep.equal([]);
    expect((await server.request('GET', '/v1/prompts/support')).json).to.include({ version: 1, is_latest: true });
  });

  it('prices spans as it is written', async () => {
    const [put, job, ...more] = await answersOf(blocks(chapter('model-prices'))[0] ?? '', server);
    expect(more).to.deep.equal([]);
    expect(put).to.include({ input_per_million: 2.5 });
    expect(job).to.include({ started_after: '2026-01-01T00:00:00.000000Z', error: null });
  });

  it('sends and lists spans as it is written', async () => {
    const [first = '', list = ''] = blocks(readme).filter((block) => /^(house|span) /.test(block));
    const [[span]] = await answersOf(first, server);
    expect(span).to.include({ name: 'answer question', kind: 'llm' });
    const program = (blocks(chapter('send-traces'), 'js')[0] ?? '').replace('http://127.0.0.1:4318', server.url);
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, SPANHOUSE_KEY: server.key },
    });
    const commands = `${list}${blocks(chapter('find-traces'))[0] ?? ''}`.match(/^span .*$/gm) ?? [];
    const counts: number[] = [];
    for (const command of commands) counts.push((JSON.parse(await run(command, server)) as unknown[]).length);
    expect(counts).to.deep.equal([2, 1, 1, 1, 2, 1, 0, 0, 1]);
    // Steps of a list.
    const steps = chapter('find-traces').match(/^ {3}span .*$/gm) ?? [];
    expect(steps).to.have.length(3);
    for (const step of steps) expect(JSON.parse(await run(step, server)), step).to.deep.equal([]);
    for (const step of blocks(chapter('statistics'))
      .join('')
      .match(/^span .*$/gm) ?? [])
      expect(JSON.parse(await run(step, server)), step).to.be.an('object');
    const [logged] = await answersOf(blocks(chapter('prompts')).at(-1) ?? '', server);
    expect(logged).to.include({ prompt_slug: 'support', output_text: 'On its way.' });
  });
});
