import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';

describe('records that are imported where they were deleted', function () {
  this.timeout(60_000);
  let server: TestServer;
  /** Steps of deletions that failed. */
  let failures = 0;
  let failing = false;
  before(async () => {
    server = await bootServer({
      onDeletionStep(step) {
        if (step !== 'records' || !failing) return;
        failures += 1;
        failing = false;
        throw new Error('failure of the test');
      },
    });
  });
  after(() => server.dispose());

  const records = async () => {
    const { json } = await server.request('GET', `/projects/${server.projectId}/export/spans`);
    return (json as { records: { id: string }[] }).records;
  };

  it('stay, also where the deletion is not done', async () => {
    const trace_id = randomUUID();
    const spans = ['one', 'two'].map((name) => ({ name, trace_id, started_at: '2026-01-15T10:00:00Z', cost: 1 }));
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
    const exported = await records();
    expect(exported).to.have.length(2);
    failing = true;
    expect((await server.request('DELETE', `/traces/${trace_id}`)).status, 'the deletion fails').to.be.at.least(500);
    const path = `/projects/${server.projectId}/import/spans`;
    const { json } = await server.request('POST', path, { body: exported });
    expect(json).to.include({ stored: 2 });
    // A deletion that failed is tried again after a second.
    await sleep(2_500);
    expect(failures).to.equal(1);
    expect((await records()).map(({ id }) => id)).to.have.members(exported.map(({ id }) => id));
    const { json: traces } = await server.request('GET', '/traces');
    expect(traces).to.have.length(1);
    expect((traces as object[])[0]).to.include({ id: trace_id, span_count: 2, cost: 2 });
  });
});
