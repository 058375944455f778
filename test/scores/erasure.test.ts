import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Score } from '../../src/engine/traces/model/score/score.js';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { storedSpan } from '../harness/span.js';
import { openStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';
import { statementOf } from '../harness/statement.js';

describe('erasing scores', () => {
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened?.dispose());

  const scored = (change: Partial<Score> = {}): Score => ({
    ...{ id: randomUUID(), entity_type: 'span', entity_id: randomUUID(), name: 'level', kind: 'numeric', value: 1 },
    ...{ source: 'sdk', author: '', comment: null, metadata: {} },
    ...change,
  });

  const rows = () =>
    opened.client.query<{ id: string; comment: string; deleted: 0 | 1 }>(
      statementOf('SELECT toString(id) AS id, comment, deleted FROM scores ORDER BY comment'),
    );

  it('removes what was replaced or deleted, with its tombstone, and leaves the rest', async () => {
    const { store } = opened;
    const projectId = randomUUID();
    const [kept, replaced, deleted, back] = [scored({ comment: 'kept' }), scored(), scored(), scored()];
    await store.log.append({ projectId, scores: [kept, { ...replaced, comment: 'old' }, deleted, back] });
    await store.log.append({ projectId, scores: [{ ...replaced, comment: 'new' }] });
    for (const { id } of [deleted, back]) expect(await store.scores.remove(projectId, id)).to.equal(true);
    await store.log.append({ projectId, scores: [{ ...back, comment: 'back' }] });
    expect(await store.scores.find(projectId, deleted.id)).to.equal(null);
    expect(await rows()).to.have.length(8);

    await store.erase();
    expect(await rows()).to.deep.equal([
      { id: back.id, comment: 'back', deleted: 0 },
      { id: kept.id, comment: 'kept', deleted: 0 },
      { id: replaced.id, comment: 'new', deleted: 0 },
    ]);
    expect(await store.scores.find(projectId, back.id)).to.include({ comment: 'back' });
  });

  it('finds no span by a score of which the tombstone alone is left, as between its steps', async () => {
    const { store, client } = opened;
    const projectId = randomUUID();
    const [kept, bare] = [storedSpan(), storedSpan()];
    const gone = scored({ entity_id: bare.id });
    await store.log.append({ projectId, spans: [kept, bare], scores: [scored({ entity_id: kept.id }), gone] });
    expect(await store.scores.remove(projectId, gone.id)).to.equal(true);
    await store.written();
    await client.command(statementOf(`DELETE FROM scores WHERE id = '${gone.id}' AND NOT deleted`));
    for (const asked of ['scores.level=0', 'scores.level=..1', 'scores.level=0..1&sort_by=scores.level']) {
      const query = parseListQuery(spanList, new URLSearchParams(asked));
      const found = (await rowsOf<{ id: string }>(await store.lists.spans(projectId, query))).map(({ id }) => id);
      expect(found, asked).to.deep.equal(asked === 'scores.level=0' ? [] : [kept.id]);
    }
  });

  it('leaves nothing of a project that is removed', async () => {
    const { store } = opened;
    const [projectId, other] = [randomUUID(), randomUUID()];
    await store.log.append({ projectId, scores: [scored({ comment: 'goes' })] });
    await store.log.append({ projectId: other, scores: [scored({ comment: 'stays' })] });
    await store.deletions.removeProject(projectId, AbortSignal.timeout(20_000));
    expect((await rows()).map(({ comment }) => comment))
      .to.include('stays')
      .and.not.include('goes');
  });
});
