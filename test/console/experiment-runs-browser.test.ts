import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { clickOn, type WatchedPage } from '../review/browser.js';
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
  const { open, says, click, closed, everywhere } = screenActions(scene, () => watched);
  after(() => endpoint.stop());
  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('are estimated, started and shown, and say why they stopped', async () => {
    await made.dataset('qa', 3);
    await scene.post('/v1/tasks/support/prompt/versions/ensure', { content: 'Answer: {{q}}' });
    endpoint.reset(() => ({ do: 'answer', content: 'On its way.' }));
    await open('datasets/qa?tab=experiments');
    await click('Run a prompt');
    await says('support', 'dialog');
    await page.select('dialog .labelled:nth-of-type(2) select', 'support');
    await click('Estimate cost');
    await says('3 calls of gpt-4o-mini with version 1', 'dialog');
    expect(endpoint.asked).to.have.length(0);
    await everywhere();
    await clickOn(page, 'dialog [type=submit]');
    await closed();
    await watched.untilHeading('support v1, gpt-4o-mini');
    await says('3 results');
    await says('On its way.');
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
