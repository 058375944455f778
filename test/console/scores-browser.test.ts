import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { uuid } from '../harness/checked-api.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn } from './harness.js';

const [SESSION, TRACE, ROOT, CALL] = [uuid(7001), uuid(7002), uuid(7003), uuid(7004)];
const HOSTILE = '<img src=x onerror=alert(1)>\u202E';

describe('scores in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();
  let watched: WatchedPage;
  let page: Page;

  const { post } = scene;
  const open = (screen: string) => page.goto(screenUrl(scene.server, screen));
  const until = (condition: string) => watched.until(condition);
  const says = (text: string) => until(`document.body?.innerText.includes(${JSON.stringify(text)})`);
  const press = async (...keys: readonly string[]) => {
    for (const key of keys)
      if (key.startsWith('"')) await page.keyboard.type(key.slice(1));
      else await page.keyboard.press(key as 'Enter');
  };
  const focused = () => page.evaluate('document.activeElement.closest("label, .labelled")?.innerText ?? ""');
  const scores = async (query: string) => (await scene.server.request('GET', `/scores?${query}`)).json as any[];
  const openForm = async (key: string) => {
    await page.waitForSelector('button ::-p-text(Score )');
    await press(key);
    await page.waitForSelector('dialog[open] form');
    await until(`document.activeElement?.dataset.first === 'true'`);
  };
  const untilSaved = () => until(`document.querySelector('dialog[open]') === null`);

  before(async () => {
    const at = (ms: number) => new Date(Date.now() - 60_000 + ms).toISOString();
    const span = { trace_id: TRACE, session_id: SESSION, started_at: at(0), ended_at: at(2000) };
    await post('/spans', [
      { ...span, id: ROOT, name: 'answer', kind: 'agent' },
      { ...span, id: CALL, name: 'model call', kind: 'llm', parent_span_id: ROOT },
    ]);
    for (const [name, body] of [
      ['quality', { kind: 'numeric', min: 0, max: 1, direction: 'higher', description: 'Share of right facts.' }],
      ['tone', { kind: 'categorical', categories: ['calm', 'neutral', 'angry'] }],
    ] as const) {
      const path = `/projects/${scene.server.projectId}/score-definitions/${name}`;
      expect((await scene.server.request('PUT', path, { body })).status).to.equal(201);
    }
  });
  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('stand beside verdicts and feedback, on the trace, the span and the session, and lead to where they are', async () => {
    const { projectId } = scene.server;
    await post('/scores', [
      { entity_type: 'span', entity_id: CALL, name: 'quality', value: 0.87654, source: 'code', comment: HOSTILE },
      { entity_type: 'trace', entity_id: TRACE, name: HOSTILE, value: true, author: HOSTILE },
      { entity_type: 'session', entity_id: SESSION, name: 'note', value: 'all of it '.repeat(30) },
    ]);
    const body = { name: 'Polite', evaluation_type: 'binary', prompt: 'Is it polite? {{output}}' };
    const judge = await post(`/projects/${projectId}/judges`, body);
    const verdict = { span_id: CALL, evaluation_result: false, evaluation_reason: 'It **shouts**' };
    await post(`/projects/${projectId}/judges/${judge.id}/evaluations`, verdict);

    await open(`traces/${TRACE}`);
    await until(`document.querySelectorAll('.opinions .chip').length === 2`);
    expect(await page.$eval('.opinions', ({ textContent }) => textContent)).to.include('quality 0.8765');
    await clickOn(page, '.opinions button ::-p-text(Show all 3)');
    await until(`document.querySelectorAll('.opinion-list > li').length === 3`);
    await until(`document.querySelector('.opinion-list strong')?.textContent === 'shouts'`);
    const rows = await page.$$eval('.opinion-list > li', (all) => all.map(({ innerText }) => innerText));
    expect(rows.join('\n')).to.include('failed').and.include(HOSTILE).and.include('by code');
    await until(`location.search === '?scores=open'`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });

    await open(`traces/${TRACE}?scores=open`);
    await clickOn(page, '.opinion-list a ::-p-text(model call)');
    await until(`location.search.includes('span=${CALL}')`);
    await open(`traces/${TRACE}?span=${CALL}&tab=evaluations`);
    await until(`document.querySelector('.span-detail')?.innerText.includes('0.8765')`);
    expect(await page.$eval('.span-detail', ({ innerText }) => innerText)).to.include('Polite');

    await open(`sessions/${SESSION}?scores=open`);
    await until(`document.querySelectorAll('.opinion-list > li').length === 4`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await clickOn(page, '.opinion-list li:nth-child(1) code');
    await until(`location.pathname.endsWith('/traces/${TRACE}')`);
  });

  it('are given by keyboard alone: by name, then by digit, and the last name comes first', async () => {
    await open(`traces/${TRACE}?span=${CALL}`);
    await page.waitForSelector('.span-detail h2');
    await openForm('s');
    expect(await focused()).to.include('Name');
    await press('"tone', 'Tab', '3');
    await until(`document.activeElement?.checked === true`);
    expect(await focused()).to.include('angry');
    await press('Enter');
    await untilSaved();
    // The focus is back where it was: keys work.
    await openForm('s');
    expect(await focused()).to.include('angry');
    await says('Replaces your score');
    await press('1', 'Tab', '"first', 'Enter');
    await untilSaved();
    const [own] = await scores(`name=tone&entity_id=${CALL}`);
    expect(own).to.include({ value: 'calm', comment: 'first', source: 'human', kind: 'categorical' });
    expect(own.author).to.be.a('string');
    await openForm('s');
    await press('Escape');
    await untilSaved();
    expect(await scores(`name=tone&entity_id=${CALL}`)).to.have.length(1);
  });

  it('of traces and sessions, too; what a new name is, its first value says', async () => {
    await open(`traces/${TRACE}`);
    await openForm('S');
    await press('"solved', 'Tab', '"1');
    await says('Save as');
    await press('Tab', 'ArrowRight');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await press('Enter');
    await untilSaved();
    expect((await scores('name=solved'))[0]).to.include({ entity_type: 'trace', value: true, kind: 'boolean' });
    await until(`document.querySelector('.opinions')?.textContent.includes('solved yes')`);
    await open(`sessions/${SESSION}`);
    await openForm('s');
    await press('"rating', 'Tab', '"4.5', 'Enter');
    await untilSaved();
    expect((await scores('name=rating'))[0]).to.include({ entity_type: 'session', value: 4.5, kind: 'numeric' });
  });

  it('are columns of lists, to sort by, and filters', async () => {
    const spans = [0.2, 0.9, 0.5].map((quality, index) => ({
      ...{ id: uuid(7100 + index), trace_id: uuid(7200 + index), name: `rated ${index}`, tags: { test: 'rated' } },
      ...{ started_at: new Date(Date.now() - 1000 * index).toISOString(), quality },
    }));
    await post(
      '/spans',
      spans.map(({ quality: _, ...span }) => span),
    );
    await post('/scores', [
      ...spans.map(({ id, quality }) => ({ entity_type: 'span', entity_id: id, name: 'quality', value: quality })),
      { entity_type: 'span', entity_id: uuid(7101), name: 'tone', value: 'angry' },
    ]);
    const untilRows = (...names: readonly string[]) =>
      until(
        `JSON.stringify([...document.querySelectorAll('.list-rows tbody .lead bdi')].map((name) => name.textContent)) === ${JSON.stringify(JSON.stringify(names))}`,
      );
    await open('traces?columns=name&tags.test=rated');
    await untilRows();
    await open('spans?columns=name&test=rated');
    await untilRows('rated 0', 'rated 1', 'rated 2');
    const asked = () => watched.requests.filter((url) => /[?&]fields=[^&]*scores/.test(url)).length;
    expect(asked()).to.equal(0);
    await clickOn(page, 'button ::-p-text(Columns)');
    await clickOn(page, '::-p-aria([name="quality"][role="checkbox"])');
    await clickOn(page, '::-p-aria([name="tone"][role="checkbox"])');
    await press('Escape');
    await until(`document.querySelector('.list-rows tbody')?.innerText.includes('0.9')`);
    expect(asked()).to.be.greaterThan(0);
    const columns = new URL(page.url()).searchParams.get('columns');
    expect(columns).to.equal('name,scores.quality,scores.tone');
    await clickOn(page, 'th .sort ::-p-text(quality)');
    await untilRows('rated 1', 'rated 2', 'rated 0');
    expect(new URL(page.url()).searchParams.get('sort_by')).to.equal('scores.quality');
    await press('/', '"Score qual', 'ArrowDown', 'ArrowDown', 'Enter');
    await until(`document.activeElement?.ariaLabel === 'Score quality is'`);
    await press('"0.5', 'ArrowDown', 'ArrowDown', 'Enter');
    await untilRows('rated 1', 'rated 2');
    await page.reload();
    await untilRows('rated 1', 'rated 2');
    expect(await page.$eval('.filter-bar', ({ textContent }) => textContent)).to.include('Score quality is 0.5..');
    // The mean over time, of all and by the values of another score.
    const legend = `document.querySelector('.histogram figcaption')?.textContent`;
    await page.select(`.list-chart select`, 'scores.quality');
    await until(`${legend}?.trim() === 'all: 0.7'`);
    await page.select(`.list-chart .line > span:nth-child(2) select`, 'scores.tone');
    await until(`${legend}?.includes('angry: 0.9') && ${legend}.includes('none: 0.5')`);
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('chart'), searchParams.get('chart_by')]).to.deep.equal(['scores.quality', 'scores.tone']);
    await press('/', '"scores.tone=angry', 'Enter');
    await untilRows('rated 1');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await page.focus('.list-rows a');
    await press('f');
    await until(`document.querySelector('dialog')?.innerText.includes('Score tone is')`);
    await press('Escape');
    // The browser remembers the columns.
    await open('spans?test=rated');
    await until(`document.querySelector('.list-rows thead')?.innerText.includes('quality')`);
  });

  it('are defined in the settings', async () => {
    const path = `/projects/${scene.server.projectId}/score-definitions`;
    const stored = async (name: string) =>
      (await scene.server.request('GET', `${path}/${encodeURIComponent(name)}`)).json;
    const name = `a/b ${HOSTILE}`;
    await open('settings?tab=scores');
    await clickOn(page, 'button ::-p-text(Add definition)');
    await page.waitForSelector('dialog[open] form');
    await press('"quality');
    await says('This name has a definition');
    await page.locator('dialog input').fill(name);
    await page.select('dialog select', 'categorical');
    await page.locator('dialog textarea').fill('good\nso, so\n');
    await clickOn(page, 'dialog button ::-p-text(Save definition)');
    await untilSaved();
    expect(await stored(name))
      .to.include({ kind: 'categorical' })
      .and.to.deep.include({ categories: ['good', 'so, so'] });
    await says(name);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });

    await clickOn(page, '::-p-aria([name="Edit quality"])');
    await page.waitForSelector('dialog[open] form');
    const fields = '[inputmode=decimal]';
    expect(await page.$$eval(fields, (all) => all.map(({ value }) => value))).to.deep.equal(['0', '1']);
    await page.locator(`.field-grid > div:nth-child(2) ${fields}`).fill('-1');
    await press('Enter');
    await until(`document.querySelector('dialog [aria-invalid=true]') !== null`);
    expect(await page.$eval('dialog .bad.small', ({ textContent }) => textContent)).to.include('must not be below min');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await page.locator(`.field-grid > div:nth-child(2) ${fields}`).fill('5');
    await press('Enter');
    await untilSaved();
    expect(await stored('quality')).to.include({
      min: 0,
      max: 5,
      direction: 'higher',
      description: 'Share of right facts.',
    });

    await clickOn(page, `::-p-aria([name="Delete ${name}"])`);
    await clickOn(page, 'dialog[open] .danger');
    await untilSaved();
    expect((await stored(name)).status).to.equal(404);
    await clickOn(page, '::-p-aria([name="Delete quality"])');
    await clickOn(page, 'dialog[open] .danger');
    await until(`document.querySelector('dialog [role=alert]')?.innerText.includes('delete them first')`);
    const body = { kind: 'numeric', min: 0, max: 1, direction: 'higher', description: 'Share of right facts.' };
    await scene.server.request('PUT', `${path}/quality`, { body });
    // Chromium tells of refused requests.
    await watched.forgetRefusals();
  });

  it('say at the field what the server has against them, and keep what was entered', async () => {
    await open(`traces/${TRACE}`);
    await openForm('S');
    await press('"quality', 'Tab', '"2', 'Enter');
    await until(`document.querySelector('dialog [aria-invalid=true]') === document.activeElement`);
    const wrong = `document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1))`;
    expect(await page.evaluate(`${wrong}.textContent`)).to.include('must be at most 1');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await page.focus('dialog input[aria-invalid]');
    await press('Backspace', '".5', 'Enter');
    await untilSaved();
    expect((await scores(`name=quality&entity_id=${TRACE}`))[0].value).to.equal(0.5);
    // Chromium tells of refused requests.
    await watched.forgetRefusals();
  });

  it('are shown by name however many there are, and 50 at first', async () => {
    const [trace_id, entity_id] = [uuid(7300), uuid(7301)];
    await post('/spans', [{ id: entity_id, trace_id, name: 'busy', started_at: new Date().toISOString() }]);
    await post('/scores', [{ entity_type: 'trace', entity_id: trace_id, name: 'first', value: 'oldest' }]);
    const many = Array.from({ length: 60 }, (_, index) => `grader ${index}`);
    const scored = { entity_type: 'span', entity_id, name: 'quality', value: 0.25 };
    await post(
      '/scores',
      many.map((author) => ({ ...scored, author })),
    );
    await open(`traces/${trace_id}?scores=open`);
    await until(`document.querySelectorAll('.opinions .chip').length === 2`);
    expect(await page.$eval('.opinions', ({ textContent }) => textContent)).to.include('first oldest');
    await says('the newest 50 of 61 items');
    await clickOn(page, '.opinion-list button ::-p-text(Show more)');
    await until(`document.querySelectorAll('.opinion-list > li').length === 61`);
  });

  it('are deleted by who gave them, and by nobody who may only read', async () => {
    const entity_id = TRACE;
    const [{ id }] = await post('/scores', {
      entity_type: 'trace',
      entity_id,
      name: 'mine',
      value: 1,
      source: 'human',
    });
    await open(`traces/${TRACE}?scores=open`);
    await clickOn(page, '::-p-aria([name="Delete your score mine"])');
    await clickOn(page, 'dialog[open] .danger');
    await untilSaved();
    expect((await scene.server.request('GET', `/scores/${id}`)).status).to.equal(404);
    await until(`!document.querySelector('.opinions').innerText.includes('mine')`);
    const read = await post(`/projects/${scene.server.projectId}/api-keys`, { name: 'reader', access: 'read' });
    const reader = await signedIn(scene, read.key as string);
    await reader.page.goto(screenUrl(scene.server, `traces/${TRACE}`));
    const button = await reader.page.waitForSelector('button[aria-disabled=true] ::-p-text(Score trace)');
    expect(await button?.evaluate((text) => text.closest('button')?.title)).to.equal('Your API key is read-only');
    await reader.page.keyboard.press('S');
    await reader.until(`document.querySelector('.notice')?.textContent.includes('read-only')`);
  });
});
