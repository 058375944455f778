import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { configurationTable } from '../../src/config/documentation.js';
import { clickOn, launchBrowser, WatchedPage } from '../review/browser.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { answersOf, blocks, chapter, readme, run, section, shortForms } from './commands.js';

const FOLDER = new URL('../../../src/http/manual/static/', import.meta.url);

describe('manual', function () {
  this.timeout(60_000);
  let server: TestServer;
  let tags: { readonly name: string; readonly description: string }[];
  before(async () => {
    server = await bootServer();
    ({ tags } = (await server.request('GET', '/openapi.json', { key: null })).json);
  });
  after(() => server.dispose());

  const described = (name: string) => tags.find((tag) => tag.name === name)?.description ?? '';

  it('has a chapter for every group of calls, each begun by a sentence, and shows every file', () => {
    for (const { name, description } of tags) expect(description.split('\n\n')[0], name).to.match(/^[^.\n]{10,120}\.$/);
    const files = tags.map(({ name }) => `${name.toLowerCase().replaceAll(' ', '-')}.md`);
    expect(readdirSync(FOLDER)).to.have.members([...files, 'overview.md']);
  });

  it('says of every call where the console has it', async () => {
    const { paths } = (await server.request('GET', '/openapi.json', { key: null })).json;
    const calls = Object.values(paths as object).flatMap((path) => Object.values(path as object));
    const rows = described('Console').split('### Where each call is')[1] ?? '';
    const named = [...rows.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).to.deep.equal(calls.map(({ operationId }) => operationId).sort());
  });

  it('shows every setting', () => {
    expect(described('Configuration')).to.include(configurationTable());
  });

  it('has the short forms of curl that the README has, once', () => {
    expect(shortForms(readme)).to.include('house() {').and.include('span() {').and.include('pick() {');
    expect(shortForms(chapter('overview'))).to.equal(shortForms(readme));
    const everywhere = [readme, ...readdirSync(FOLDER).map((file) => chapter(file.replace('.md', '')))].join('\n');
    expect(everywhere.match(/^house\(\)/gm)).to.have.length(2);
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

  it('makes a prompt as it is written', async () => {
    const [ensured, newest, pinned, tagged] = await answersOf(section('prompt'), server);
    for (const answer of [ensured, newest, tagged]) expect(answer).to.include({ version: 1 });
    expect(pinned).to.include({ tag: 'production', version: 1 });
    const [history] = await answersOf(blocks(chapter('prompts'))[0] ?? '', server);
    expect(history.map(({ version }: { version: number }) => version)).to.deep.equal([1]);
    const [mistyped, ...removed] = await answersOf(blocks(chapter('prompts'))[1] ?? '', server);
    expect([mistyped, removed]).to.deep.equal([{ tag: 'prodution', version: 1 }, []]);
    const tagsNow = (await server.request('GET', `/projects/${server.projectId}/prompts/support/tags`)).json;
    expect(tagsNow.map(({ tag }: { tag: string }) => tag)).to.deep.equal(['latest', 'production']);
    const [second, ...none] = await answersOf(blocks(chapter('prompts'))[2] ?? '', server);
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
    const program = (blocks(chapter('traces'), 'js')[0] ?? '').replace('http://127.0.0.1:4318', server.url);
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, SPANHOUSE_KEY: server.key },
    });
    const commands = `${list}${blocks(chapter('traces'))[0] ?? ''}`.match(/^span .*$/gm) ?? [];
    const counts: number[] = [];
    for (const command of commands) counts.push((JSON.parse(await run(command, server)) as unknown[]).length);
    expect(counts).to.deep.equal([2, 1, 1, 1, 2, 1, 0, 0, 1]);
  });

  it('is shown in /docs: a sentence beside each group, and below it text, commands and tables', async function () {
    const browser = await launchBrowser();
    if (browser === null) return this.skip();
    try {
      const { page, complaints } = await WatchedPage.open(browser);
      await page.goto(`${server.url}/docs#/Feedback`, { waitUntil: 'networkidle0' });
      await page.waitForSelector('.manual pre code');
      expect(await page.$$eval('.opblock-tag small', (all) => all.map((one) => one.textContent))).to.deep.equal(
        tags.map(({ description }) => description.split('\n\n')[0]),
      );
      expect(await page.$eval('.manual pre code', (code) => code.textContent)).to.equal(blocks(chapter('feedback'))[0]);
      await clickOn(page, '#operations-tag-Configuration');
      await page.waitForSelector('.manual table');
      expect(await page.$$eval('.manual tbody tr', (rows) => rows.length)).to.equal(
        configurationTable().split('\n').length - 2,
      );
      expect(complaints).to.deep.equal([]);
    } finally {
      await browser.close();
    }
  });
});
