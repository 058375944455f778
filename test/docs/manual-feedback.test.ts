import { expect } from 'chai';
import { sharedServer } from '../harness/shared-server.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: collect feedback in five minutes', () => {
  it('works as it is written', async () => {
    const server = await sharedServer();
    try {
      const answers = await answersOf(blocks(chapter('feedback'))[0] ?? '', server);
      expect(answers).to.have.length(5);
      const [[span], link, feedback, unified, listed] = answers;
      const { json: version } = await server.request('GET', '/v1/prompts/support');
      expect(version).to.include({ prompt: 'support', version: 1 });
      expect(feedback).to.include({ completion_id: span.id, thumbs_up: false, prompt_id: version.prompt_id });
      expect(unified.summary).to.include({ total: 1, human_feedback_count: 1 });
      expect(listed).to.include({ total: 1 });
      expect(listed.feedback[0]).to.include({ id: feedback.id, prompt_version: 1 });
      expect(listed.feedback[0].completion).to.include({ name: 'answer', output_data: 'It is on its way.' });
      for (const answer of await answersOf(blocks(chapter('feedback'))[1] ?? '', server))
        expect(answer).to.include.keys('total', 'feedback');
      const page = await fetch(link.url);
      expect(page.status).to.equal(200);
      expect(await page.text())
        .to.include('Where is my parcel?')
        .and.to.include('It is on its way.');
    } finally {
      await server.dispose();
    }
  });
});
