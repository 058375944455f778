import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type WatchedPage } from '../review/browser.js';
import { ModelEndpoint } from '../judges/model-endpoint.js';
import { experimentsScene } from './experiments-scene.js';
import { consoleScene, screenActions, signedIn } from './harness.js';

describe('runs of experiments in the console', function () {
  this.timeout(90_000);
  let endpoint: ModelEndpoint;
  let watched: WatchedPage;
  let page: Page;
  before(async () => {
    endpoint = await ModelEndpoint.start();
  });
  const scene = consoleScene({
    boot: () => ({ env: { JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_LLM_MODEL: 'gpt-4o-mini', JUDGE_LLM_API_KEY: 'x' } }),
  });
  const made = experimentsScene({ post: scene.post, server: () => scene.server });
  const { open, until, says, click, closed, everywhere } = screenActions(scene, () => watched);
  after(() => endpoint.stop());
  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  const fill = async (label: string, text: string) => {
    const input = await page.waitForSelector(`::-p-aria([name="${label}"][role="textbox"])`);
    await input?.click({ count: 3 });
    await input?.type(text);
  };

  it('are estimated, started and shown, and say why they stopped', async () => {
    await made.dataset('qa', 3);
    await scene.post('/v1/tasks/support/prompt/versions/ensure', { content: 'Answer: {{asked}}' });
    const prompts = `/projects/${scene.server.projectId}/prompts/support`;
    await scene.post(`${prompts}/tags/production:pin`, { version: 1 });
    await scene.post('/v1/tasks/support/prompt/versions/ensure', { content: 'Answer now: {{q}}' });
    endpoint.reset(() => ({ do: 'answer', content: 'On its way.' }));
    await open('datasets/qa?tab=experiments');
    await click('Run a prompt');
    await says('support', 'dialog');
    const field = (label: string, control = 'textbox') =>
      page.waitForSelector(`::-p-aria([name="${label}"][role="${control}"])`);
    await (await field('Prompt', 'combobox'))?.select('support');
    await (await field('Prompt version', 'combobox'))?.select('tag:production');
    await says('{{asked}}', 'dialog');
    await (await field('Rows'))?.type('r9, r1');
    await (await field('Temperature'))?.type('warm');
    await (await field('Maximum cost (USD)'))?.type('1');
    await click('Estimate cost');
    await until(`document.querySelectorAll('dialog [aria-invalid=true]').length === 1`);
    await says('must be a number', 'dialog');
    await fill('Temperature', '0.5');
    await click('Estimate cost');
    await until(`document.querySelectorAll('dialog [aria-invalid=true]').length === 1`);
    await says('0: is no row of version 1 of the dataset', 'dialog');
    await says('asked: is a variable of the prompt', 'dialog');
    await everywhere();
    await watched.forgetRefusals();
    await fill('Rows', '2');
    await (await field('{{asked}}', 'combobox'))?.select('q');
    await (await field('Tags'))?.type('first, baseline');
    await click('Estimate cost');
    await says('for support v1 on 2 rows of qa v1', 'dialog');
    expect(endpoint.asked).to.have.length(0);
    await click('Run 2 calls');
    await closed();
    await watched.untilHeading('support v1, gpt-4o-mini');
    await says('2 results');
    await says('On its way.');
    await says('baseline');
    expect(endpoint.asked[0]?.body).to.include({ temperature: 0.5 });
    expect(endpoint.asked.map(({ last }) => last).sort()[0]).to.equal('Answer: Question 1');
    endpoint.reset(() => ({ do: 'status', status: 401 }));
    const body = { dataset: 'qa', prompt_slug: 'support', name: 'refused' };
    const { id } = await scene.post(made.path(':run'), body);
    await open(`experiments/${id}`);
    await says('The run stopped:');
    await says('canceled');
    await everywhere();
  });
});
