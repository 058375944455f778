import { expect } from 'chai';
import { sharedServer } from '../harness/shared-server.js';
import { answersOf, blocks, chapter } from './commands.js';

describe('manual: build and version datasets', () => {
  it('works as it is written', async () => {
    const server = await sharedServer();
    try {
      const span = {
        trace_id: '0199a1b2-0000-7000-8000-000000000001',
        name: 'answer',
        kind: 'llm',
        input_data: 'What?',
      };
      await server.request('POST', '/spans', { body: [{ ...span, started_at: new Date().toISOString() }] });
      const [create = '', files = '', spans = '', versions = ''] = blocks(chapter('datasets'));
      const [made, first, merged] = await answersOf(create, server);
      expect(made).to.include({ name: 'support/questions' });
      expect(first).to.include({ version_number: 1, row_count: 2 });
      expect(merged).to.include({ version_number: 2, row_count: 2, added: 1, changed: 1, removed: 1 });
      const [uploaded] = await answersOf(files, server);
      expect(uploaded).to.include({ version_number: 3, row_count: 4, message: 'From a file' });
      const [look] = await answersOf(spans, server);
      expect(look).to.include({ matched: 1, rows: 1, version: null });
      expect(look.preview[0]).to.include({ question: 'What?', answer: null });
      const [rows, all, diff, pinned, tagged] = await answersOf(versions, server);
      expect(rows.rows).to.have.length(2);
      expect(rows).to.include({ total_rows: 4 });
      expect(all).to.have.length(3);
      expect(diff).to.include({ from: 1, to: 3, added: 2 });
      expect(pinned).to.deep.equal({ tag: 'ci', version_number: 1 });
      expect(tagged.rows).to.have.length(2);
    } finally {
      await server.dispose();
    }
  });
});
