import { expect } from 'chai';
import { bootServer } from '../harness/server.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: collect feedback in five minutes', () => {
  it('works as it is written', async () => {
    const server = await bootServer();
    try {
      const answers = await answersOf(blocks(chapter('feedback'))[0] ?? '', server);
      expect(answers).to.have.length(5);
      const [version, [span], link, feedback, unified] = answers;
      expect(version).to.include({ prompt: 'support', version: 1 });
      expect(feedback).to.include({ completion_id: span.id, thumbs_up: false, prompt_id: version.prompt_id });
      expect(unified.summary).to.include({ total: 1, human_feedback_count: 1 });
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
