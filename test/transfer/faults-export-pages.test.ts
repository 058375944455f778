import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PAGE_BYTES } from '../../src/engine/traces/model/transfer/record-page.js';
import { hashOf } from '../../src/features/prompts/version-rules.js';
import { bootServer, type TestServer } from '../harness/server.js';

const AT = '2026-01-31T09:00:00.000000Z';
const VERSIONS = 5_000;
const POSTED = 20;
const attributes = { text: 'x'.repeat(1_000_000) };

interface Page {
  readonly records: readonly { readonly id: string }[];
  readonly next: string | null;
  readonly more: boolean;
}

describe('pages of an export', () => {
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  for (const part of ['traces', 'sessions'] as const)
    it(`have bounded sizes: ${part}`, async () => {
      const ids = Array.from({ length: POSTED }, () => randomUUID());
      for (const id of ids) {
        const more = part === 'traces' ? { started_at: '2026-01-31', session_id: randomUUID() } : {};
        const body = [{ id, name: 'posted', attributes, project_id: server.projectId, ...more }];
        expect((await server.request('POST', `/${part}`, { body })).status).to.equal(200);
      }
      const exported: string[] = [];
      for (let after: string | null = '', more = true; more;) {
        const query: string = after ? `&after=${after}` : '';
        const { status, text, json } = await server.request(
          'GET',
          `/projects/${server.projectId}/export/${part}?limit=100${query}`,
        );
        expect(status, text.slice(0, 200)).to.equal(200);
        expect(text.length).to.be.below(PAGE_BYTES + attributes.text.length);
        const page = json as Page;
        exported.push(...page.records.map(({ id }) => id));
        [after, more] = [page.next, page.more];
      }
      expect(exported.sort()).to.deep.equal(ids.sort());
    });

  it('look at few rows each, also of a time at which there were none', async () => {
    const call = async (method: string, path: string, body?: unknown) => {
      const { status, text, json } = await server.request(method, `/projects/${server.projectId}/${path}`, { body });
      expect(status, text.slice(0, 200)).to.equal(200);
      return json as Page;
    };
    const prompt_id = randomUUID();
    await call('POST', 'import/prompts', [{ id: prompt_id, slug: 'many', last_version: VERSIONS, created_at: AT }]);
    const created_by = { id: randomUUID(), name: 'Ann' };
    const made = { prompt_id, model_id: null, metadata: {}, created_at: AT, created_by, updated_at: AT };
    for (let from = 0; from < VERSIONS; from += 1000)
      await call(
        'POST',
        'import/prompt_versions',
        Array.from({ length: 1000 }, (_, index) => {
          const [version, content] = [from + index + 1, `content ${from + index}`];
          return { id: randomUUID(), version, content, content_hash: hashOf(content), ...made };
        }),
      );
    const counts = async (asOf: string) => {
      const found: number[] = [];
      for (let after = '', more = true; more;) {
        const page = await call('GET', `export/prompt_versions?limit=1000&as_of=${asOf}${after}`);
        found.push(page.records.length);
        [after, more] = [`&after=${page.next}`, page.more];
      }
      return found;
    };
    expect(await counts('2026-02-01')).to.deep.equal([1000, 1000, 1000, 1000, 1000]);
    expect(await counts('1971-01-01')).to.deep.equal([0, 0, 0]);
  });
});
