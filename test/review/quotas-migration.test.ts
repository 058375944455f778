import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { guestKeyOf } from '../../src/features/review/reviewer.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteLinkStore } from '../../src/features/review/store/link-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { ReviewSigner } from '../../src/features/review/pages/review-cookie.js';

const LINK = 'the-link';

describe('a feedback link from before reviewers were known by their browser', () => {
  it('keeps its reviewers, and counts what they said', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-sqlite-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      migrate(
        database,
        files.slice(
          0,
          files.findIndex(({ name }) => name === 'review_quotas'),
        ),
      );
      database.exec(`
        INSERT INTO users VALUES ('u', 'Ann', NULL, 1);
        INSERT INTO projects VALUES ('p', 'Project', 1);
        INSERT INTO prompts VALUES ('q', 'p', 'slug', 1);
        INSERT INTO feedback_links VALUES ('${LINK}', 'p', 'q', 'prompt_completion', zeroblob(32), 1, 'u', 9, NULL);
        INSERT INTO feedback_guests VALUES ('${LINK}', 'ann', 'u');
        INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, reason, metadata, created_at, updated_at)
          VALUES ('f', 'p', 'q', 'c', 'u', 1, 'größer', '{}', 1, 1);
      `);
      migrate(database, files);
      const links = new SqliteLinkStore(database);
      expect(links.holdings(LINK, 'any').bytes).to.deep.equal({ taken: 512 + 8, ofParty: 0 });

      // A browser that remembers the name alone is the reviewer of then; a new one of the same name is not.
      const signer = new ReviewSigner(Buffer.from('secret'));
      const scope = { linkId: LINK, path: '/', secure: false };
      const cookie = signer.remember({ name: 'Ann', holder: '', round: [] }, scope).split(';')[0];
      const memory = signer.recall(cookie, LINK);
      expect(memory).to.include({ name: 'Ann', holder: '' });
      const claim = { name: 'Ann', site: 's' };
      expect(links.guest(LINK, guestKeyOf({ ...claim, holder: memory?.holder ?? 'x' }))).to.equal('u');
      expect(links.guest(LINK, guestKeyOf({ ...claim, holder: signer.newHolder() }))).to.equal(undefined);

      database.exec(`DELETE FROM feedback WHERE id = 'f'`);
      expect(links.holdings(LINK, 'any').bytes.taken).to.equal(0);
    } finally {
      database.close();
      await rm(folder, { recursive: true });
    }
  });
});
