import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { finished, eventually, JudgeApi, type Json } from '../judges/judge-api.js';
import { answer, failing, ModelEndpoint, passing } from '../judges/model-endpoint.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { experimentsScene } from './experiments-scene.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)> \u202egnp';

describe('judges and review, in the console', function () {
  this.timeout(90_000);
  let endpoint: ModelEndpoint;
  let api: JudgeApi;
  let watched: WatchedPage;
  let refusing = true;

  before(async () => {
    endpoint = await ModelEndpoint.start();
    endpoint.reset(({ last }) => {
      if (refusing && last.includes('refused')) return { do: 'status', status: 400 };
      return answer(last.includes('rude') ? { ...failing, reason: HOSTILE } : passing);
    });
  });
  const scene = consoleScene({
    boot: () => ({
      env: { JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_LLM_MODEL: 'gpt-4o-mini', JUDGE_LLM_API_KEY: 'x' },
    }),
  });
  before(() => {
    api = new JudgeApi(scene.server);
  });
  after(() => endpoint.stop());
  beforeEach(async () => {
    watched = await signedIn(scene);
  });

  const until = (condition: string) => watched.until(condition);
  const untilText = (text: string) => until(`document.body?.innerText.includes(${JSON.stringify(text)})`);
  const untilStep = (step: string) => until(`document.querySelector('h2')?.textContent === ${JSON.stringify(step)}`);
  /** Focuses a control by what it is called, as Tab would. */
  const focus = async (selector: string) => {
    const control = await watched.page.waitForSelector(selector);
    await control?.focus();
  };
  const press = async (...keys: string[]) => {
    for (const key of keys) await watched.page.keyboard.press(key as 'Enter');
  };

  it('makes a judge, runs it and corrects it, by keyboard', async () => {
    const { page } = watched;
    const texts = ['good', 'good', 'rude', HOSTILE];
    await api.post(...texts.map((output_data) => finished({ name: HOSTILE, output_data, tags: { env: 'prod' } })));
    await page.goto(screenUrl(scene.server, 'judges'));
    await focus('::-p-aria([name="New judge"][role="button"])');
    await press('Enter');
    await focus('::-p-aria([name="Name"][role="textbox"])');
    await page.keyboard.type('Polite');
    await until(`document.querySelector('.judge-preview .tile b')?.textContent === '4'`);
    await focus('::-p-aria([name="Tags"][role="combobox"])');
    await page.keyboard.type('env=dev');
    await press('Enter');
    await until(`document.querySelector('.judge-preview .tile b')?.textContent === '0'`);
    await press('Backspace');
    await until(`document.querySelector('.judge-preview .tile b')?.textContent === '4'`);
    await api.post(finished({ kind: 'chain', name: 'around', tags: { env: 'prod' } }));
    await focus('::-p-aria([name="Tags"][role="combobox"])');
    await page.keyboard.type('env=prod');
    await press('Enter');
    await focus('::-p-aria([name="chain 1"][role="button"])');
    await press('Enter');
    await until(`document.querySelector('.judge-preview .tile b')?.textContent === '5'`);
    await until(`document.querySelector('.other-kinds') === null`);
    await focus('::-p-aria([name="Kinds"][role="combobox"])');
    await press('Backspace');
    await until(`document.querySelector('.judge-preview .tile b')?.textContent === '4'`);
    await focus('::-p-aria([name="Tags"][role="combobox"])');
    await press('Backspace');
    await focus('::-p-text(Test on 1 span)');
    await press('Enter');
    await page.waitForSelector('.tryout .badge');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);

    await focus('::-p-aria([name="Name"][role="textbox"])');
    await press('Enter');
    await until(`/judges\\/[0-9a-f-]{36}$/.test(location.pathname)`);
    const [judge = {}] = await api.expect(200, 'GET', 'judges');
    expect(judge).to.deep.include({
      name: 'Polite',
      enabled: true,
      filters: { ...judge.filters, kinds: ['llm'], tags: {} },
    });
    await focus('::-p-aria([name="Run…"][role="button"])');
    await press('Enter');
    await page.waitForSelector('dialog[open] input');
    await focus('dialog[open] input');
    await press('Enter');
    await eventually(
      () => api.evaluations(judge),
      (all) => all.length === 4,
    );
    // It keeps the focus, and takes it along to what opened it.
    await until(`document.querySelector('dialog') === null`);

    await focus('[role=tab][data-name=queue]');
    await press('ArrowLeft');
    await until(`document.activeElement?.dataset.name === 'evaluations'`);
    await press('ArrowLeft');
    await untilStep('1 of 4');
    await untilText('failed');
    await press('-', 'Enter');
    await untilStep('2 of 4');
    await untilText('It counts for v1, which made the verdict, from now on: with 1 correction');
    await untilText('uses revision 1 of its corrections and starts its next version.');
    await press('+', 'r');
    await page.keyboard.type('It is really fine');
    await page.keyboard.down('Control');
    await press('Enter');
    await page.keyboard.up('Control');
    await untilStep('3 of 4');
    await press('u');
    await untilStep('2 of 4');
    await press('-', 'Enter');
    await untilStep('3 of 4');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await press('-', 'r');
    await page.keyboard.type('Not lost');
    await page.reload();
    await until(`document.querySelector('.review-form textarea')?.value === 'Not lost'`);
    await untilStep('1 of 2');
    await press('Enter');
    await untilStep('2 of 2');
    await press('ArrowRight');
    await untilText('1 not reviewed');
    const report = await api.expect(200, 'GET', `judges/${judge.id}/calibration`);
    expect(report).to.include({ count: 3, agreed: 0 });
    expect(await page.$('.review img, .judge-preview img')).to.equal(null);
  });

  it('shows what judges found, and leads to what it counts', async () => {
    const { page } = watched;
    const [judge = {}] = await api.expect(200, 'GET', 'judges');
    await page.goto(screenUrl(scene.server, 'judges'));
    await untilText('100%');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await clickOn(page, 'td a[href*="tab=evaluations"]');
    await until(`location.search.includes('start_date=7d') && document.querySelectorAll('tbody tr').length >= 4`);
    await page.select('select', 'false');
    await until(
      `location.search.includes('evaluation_result=false') && document.querySelectorAll('tbody tr').length === 1`,
    );
    await page.reload();
    await until(`document.querySelectorAll('tbody tr').length === 1`);
    expect(await page.$eval('tbody td a[href*="/traces/"]', ({ href }) => href)).to.match(
      /traces\/[0-9a-f-]{36}\?span=/,
    );
    for (const tab of ['agreement', 'trials', 'settings', 'queue']) {
      await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=${tab}`));
      await page.waitForSelector('[role=tabpanel] :is(h2, form, .state)');
      expect(await watched.accessibilityIssues(), tab).to.deep.equal([]);
    }
    await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=evaluations&why=${randomUUID()}`));
    await untilText('no span');
    await page.setViewport({ width: 360, height: 800 });
    const chosenIsSeen = (name: string) =>
      until(`(() => {
        const tab = document.querySelector('[role=tab][aria-selected=true]');
        const { left, right } = tab?.getBoundingClientRect() ?? {};
        return tab?.dataset.name === '${name}' && left >= 0 && right <= 360;
      })()`);
    await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=settings`));
    await page.waitForSelector('[role=tab]');
    await chosenIsSeen('settings');
    await focus('[role=tab][data-name=settings]');
    await press('Home');
    await chosenIsSeen('agreement');
  });

  it('evaluates results of an experiment, which are compared by what it says', async () => {
    const { page } = watched;
    const made = experimentsScene({ post: scene.post, server: () => scene.server });
    await made.dataset('judged', 6);
    const before = await made.run('judged', 'before', () => ({}), { rows: 6 });
    const after = await made.run('judged', 'rude', () => ({}), { rows: 6 });
    await scene.post(made.path(`/${before.id}/tags/baseline:pin`), undefined);
    const runChosen = async () => {
      await clickOn(page, '::-p-aria([name="Run judge"][role="button"])');
      await until(`document.querySelector('dialog') === null`);
    };
    await page.goto(screenUrl(scene.server, `experiments/${before.id}`));
    await clickOn(page, '::-p-aria([name="Run a judge"][role="button"])');
    await untilText('Current version');
    await untilText('Up to 6 model calls');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await runChosen();
    const says = (row: string) =>
      until(`document.querySelector('[aria-label=Judges] tbody')?.innerText.replace(/\\s+/g, ' ').includes('${row}')`);
    await says('100% 6 of 6 0 0');
    await page.goto(screenUrl(scene.server, `experiments/${after.id}`));
    await clickOn(page, '::-p-text(Compare with the baseline)');
    await untilText('has not evaluated the candidate yet');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await clickOn(page, '::-p-text(Run it on the candidate)');
    await untilText('run on before');
    await runChosen();
    await page.waitForSelector('[aria-label="Margin of Polite"]');
    await clickOn(page, 'main [type=submit]');
    await watched.untilHeading('rude with before');
    await untilText('Polite: 0.0%, before 100.0%');
    await untilText('passed → failed');
    expect(await page.$eval('.screen-head .badge', ({ innerText }) => innerText.trim())).to.equal('baseline');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await page.goto(screenUrl(scene.server, `experiments/${after.id}`));
    await says('0% 6 of 6 0 0');
    const [judge = {}] = await api.expect(200, 'GET', 'judges');
    const { results } = await api.expect(200, 'GET', `experiments/${after.id}/results`);
    await api.expect(200, 'POST', `/v1/prompts/${judge.task_slug}/completions/${results[0].id}/feedback`, {
      judge_id: judge.id,
      thumbs_up: false,
    });
    await page.reload();
    await clickOn(page, '[aria-label=Judges] td:last-child a');
    await until(
      `location.search.includes('agreement=disagreed') && document.querySelectorAll('tbody tr').length === 1`,
    );
    await clickOn(page, 'tbody a');
    await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=evaluations&experiment_id=${after.id}`));
    await until(`document.querySelectorAll('tbody tr').length === 6`);
    await page.goto(screenUrl(scene.server, `experiments/${after.id}?row=r2`));
    await untilText('Evaluations');
    await page.waitForSelector('dialog .badge.bad');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
  });

  it('makes a judge of traces, tries it on one, runs it, and says why', async () => {
    const { page } = watched;
    const trace_id = randomUUID();
    const root = finished({ trace_id, name: 'agent run', kind: 'agent' });
    await api.post(root, finished({ trace_id, parent_span_id: root.id, name: 'look it up', kind: 'tool' }));
    await page.goto(screenUrl(scene.server, 'judges/new'));
    await page.waitForSelector('form select');
    await page.select('form select', 'trace');
    await until(`document.querySelector('form textarea')?.value.includes('{{outline}}')`);
    await focus('::-p-aria([name="Name"][role="textbox"])');
    await page.keyboard.type('Whole');
    await focus('::-p-aria([name="Kinds"][role="combobox"])');
    await press('Backspace');
    await page.keyboard.type('agent');
    await press('Enter');
    // What is tried is of the preview that is shown.
    await until(`document.querySelector('.judge-preview')?.getAttribute('aria-busy') === 'false'`);
    await until(`document.querySelector('.judge-preview .tile b')?.textContent === '1'`);
    await untilText('Latest matching traces');
    await clickOn(page, '::-p-text(Test on 1 trace)');
    await page.waitForSelector('.tryout .badge');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await clickOn(page, '::-p-text(Create judge)');
    await until(`/judges\\/[0-9a-f-]{36}$/.test(location.pathname)`);
    await clickOn(page, '::-p-aria([name="Run…"][role="button"])');
    await untilText('Number of most recent matching traces');
    await focus('dialog[open] textarea');
    await page.keyboard.type(trace_id);
    await clickOn(page, '::-p-text(Evaluate 1 trace)');
    const judges: Json[] = await api.expect(200, 'GET', 'judges');
    const judge = judges.find(({ name }) => name === 'Whole') ?? {};
    const [evaluation] = await eventually(
      () => api.evaluations(judge),
      (all) => all.length === 1,
    );
    expect(evaluation).to.include({ subject: 'trace', subject_id: trace_id, span_id: root.id });
    await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=evaluations&why=${trace_id}`));
    await untilText('It was evaluated at');
    await untilText('Why was a trace evaluated or skipped?');
  });

  it('keeps the draft of a judge until it is saved or dropped', async () => {
    const { page } = watched;
    const nameIs = (name: string) => until(`document.querySelector('form input')?.value === ${JSON.stringify(name)}`);
    await page.goto(screenUrl(scene.server, 'judges/new'));
    await focus('::-p-aria([name="Name"][role="textbox"])');
    await page.keyboard.type('Half');
    await page.reload();
    await nameIs('Half');
    await untilText('Unsaved changes');
    await clickOn(page, '::-p-text(Discard changes)');
    await nameIs('');
    const [judge = {}] = await api.expect(200, 'GET', 'judges');
    await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=settings`));
    await focus('::-p-aria([name="Name"][role="textbox"])');
    await page.keyboard.type('!');
    await focus('[role=tab][data-name=settings]');
    await press('Home', 'End');
    await nameIs('Polite!');
    await api.expect(200, 'PATCH', `judges/${judge.id}`, { name: 'Kind' });
    await page.reload();
    await untilText('has changed since');
    await clickOn(page, '::-p-text(Save)');
    await untilText('Settings saved');
    await page.reload();
    await nameIs('Polite!');
    expect(await watched.text()).to.not.include('Unsaved changes');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
  });

  it('tries all that failed again', async () => {
    const { page } = watched;
    const [judge = {}] = await api.expect(200, 'GET', 'judges');
    const spans = await api.post(finished({ output_data: 'refused' }), finished({ output_data: 'refused' }));
    for (const span of spans) await api.until(judge, span, 'failed');
    await page.goto(screenUrl(scene.server, `judges/${judge.id}?tab=queue&state=queued`));
    refusing = false;
    await focus('::-p-aria([name="Retry all failed (2)"][role="button"])');
    await press('Enter');
    for (const span of spans) await api.evaluated(judge, span);
    await until(`!document.body.innerText.includes('Retry all failed')`);
  });

  it('asks for nothing of a judge that is deleted', async () => {
    const { page } = watched;
    const judge = await api.create({ name: 'Goes' });
    await page.goto(screenUrl(scene.server, `judges/${judge['id']}`));
    // What was asked before is answered with 404 after it.
    await page.waitForNetworkIdle({ idleTime: 300, concurrency: 2 });
    await clickOn(page, '::-p-aria([name="Delete"][role="button"])');
    await clickOn(page, 'dialog[open] ::-p-aria([name="Delete judge"][role="button"])');
    await until(`location.pathname.endsWith('/judges') && document.querySelector('dialog[open]') === null`);
    await page.waitForNetworkIdle({ idleTime: 300, concurrency: 2 });
    expect(watched.complaints).to.deep.equal([]);
  });

  it('reviews completions of a prompt one by one', async () => {
    const { page } = watched;
    await api.expect(200, 'POST', '/v1/tasks/support%2Ffaq/prompt/versions/ensure', { content: 'Answer {{question}}' });
    const made: Json[] = await api.post(
      ...['first', 'second'].map((output_data) =>
        finished({ output_data, attributes: { prompt_slug: 'support/faq' } }),
      ),
    );
    await page.goto(screenUrl(scene.server, 'review'));
    await clickOn(page, '::-p-text(support/faq)');
    await untilStep('1 of 2');
    await press('-');
    await focus('::-p-aria([name="Expected output (optional)"][role="textbox"])');
    await page.keyboard.type('better');
    await press('Escape', 'Enter');
    await untilStep('2 of 2');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await press('+', 'Enter');
    await untilText('All reviewed');
    const said = await Promise.all(made.map(({ id }) => api.expect(200, 'GET', `feedback/span/${id}`)));
    const thumbs = said
      .flatMap(({ items }) => items as Json[])
      .filter(({ kind }) => kind === 'human_feedback')
      .map(({ thumbs_up, expected_output }) => [thumbs_up, expected_output]);
    expect(thumbs).to.have.deep.members([
      [false, 'better'],
      [true, undefined],
    ]);
  });
});
