import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SCOPE_NAMES, withImplied, type Scope } from '../../src/engine/identity/scopes.js';
import { each } from '../harness/checked-api.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { describedCalls, type DescribedCall } from './described-calls.js';

const AT_ONCE = 16;
/** What it is about needs no scope: who the caller is. */
const FOR_ANY_KEY = ['listLangfuseProjects', 'whoAmI'];

describe('scopes of API keys', () => {
  let server: TestServer;
  let calls: DescribedCall[];
  const keys = new Map<string, string>();

  before(async () => {
    server = await sharedServer();
    calls = await describedCalls(server);
  });
  after(() => server.dispose());

  async function keyWith(scopes: readonly Scope[]): Promise<string> {
    const name = scopes.join(' ');
    const known = keys.get(name);
    if (known !== undefined) return known;
    const { status, text, json } = await server.request('POST', `/projects/${server.projectId}/api-keys`, {
      body: { name: name.slice(0, 200), scopes },
    });
    expect(status, text).to.equal(201);
    keys.set(name, json.key);
    return json.key as string;
  }

  /**
   * Whether a key is let in. A call that is changes nothing, and no tail goes on: no call knows one of the parameters, no list
   * takes the other, and bodies that may have unknown parameters are not there.
   */
  async function isLetIn(call: DescribedCall, key: string): Promise<boolean> {
    const { status, json } = await server.request(call.method, `${call.path}?status=zyx&zyx=1`, { key });
    expect(status, call.id).to.not.equal(401);
    if (status === 403) expect(json.detail ?? json.message, call.id).to.match(/^This API key lacks the scopes? [a-z]/);
    return status !== 403;
  }

  it('open the calls that name them, each alone, nothing more and nothing less', async () => {
    for (const scope of SCOPE_NAMES) {
      const key = await keyWith([scope]);
      const opened: string[] = [];
      await each(
        calls,
        async (call) => {
          if (await isLetIn(call, key)) opened.push(call.id);
        },
        AT_ONCE,
      );
      const opens = withImplied([scope]);
      const named = calls.filter(({ needed }) => needed.every((one) => opens.has(one)));
      expect(opened.sort(), scope).to.deep.equal(named.map(({ id }) => id).sort());
      expect(opened.length, scope).to.be.above(FOR_ANY_KEY.length);
    }
  });

  it('are all needed where a call names several', async () => {
    const several = calls.filter(({ needed }) => needed.length > 1);
    expect(several.map(({ id }) => id)).to.include.members(['exportRecords', 'createFeedbackLink', 'logCompletion']);
    for (const call of several) {
      expect(await isLetIn(call, await keyWith(call.needed)), call.id).to.equal(true);
      for (const lacking of call.needed) {
        const key = await keyWith(SCOPE_NAMES.filter((scope) => scope !== lacking));
        const { status, text } = await server.request(call.method, call.path, { key });
        expect(status, call.id).to.equal(403);
        expect(text, call.id).to.include(`This API key lacks the scope ${lacking}`);
      }
    }
  });

  it('are in the document of every call, in words too, and some calls need none', () => {
    expect(calls.filter(({ needed }) => needed.length === 0).map(({ id }) => id)).to.have.members(FOR_ANY_KEY);
    for (const { description, needed } of calls)
      for (const scope of needed) expect(description).to.include(`\`${scope}\``);
  });

  it('only read, only send, or change what a level of access says', async () => {
    const openedBy = async (access: string) => {
      const path = `/projects/${server.projectId}/api-keys`;
      const { json } = await server.request('POST', path, { body: { name: access, access } });
      const has = new Set(json.scopes as Scope[]);
      return calls.filter(({ needed }) => needed.every((scope) => has.has(scope)));
    };
    expect(await openedBy('full')).to.have.length(calls.length);
    expect((await openedBy('read')).filter(({ method }) => method !== 'GET').map(({ id }) => id)).to.deep.equal([
      'testMonitor',
      'estimatePlayground',
      'queryLangsmithRuns',
      'queryPhoenixSpans',
    ]);
    const ofRead = (await openedBy('read')).map(({ id }) => id);
    const kept = calls.filter(({ method, id }) => method === 'GET' && !ofRead.includes(id));
    expect(kept.map(({ id }) => id)).to.have.members(['listAudit', 'exportAudit']);
    const application = (await openedBy('application')).map(({ id }) => id);
    expect(application).to.include.members(['postSpans', 'getPrompt', 'submitFeedback', 'logCompletion', 'postScores']);
    expect(application).to.not.include.members(['deleteSpan']).and.not.include.members(['createFeedbackLink']);
    const ci = await openedBy('ci');
    expect(ci.map(({ id }) => id)).to.include.members(['runExperiment', 'createComparison', 'runJudge', 'postSpans']);
    expect(
      ci.filter(({ needed }) => needed.some((scope) => /^admin|^project|^prompts:write/.test(scope))),
    ).to.deep.equal([]);
  });

  it('of a score count in a batch of a Langfuse client, too', async () => {
    const event = {
      ...{ id: randomUUID(), type: 'score-create', timestamp: '2026-01-15T10:00:00Z' },
      body: { traceId: randomUUID(), name: 'tone', value: 1 },
    };
    const send = (key: string) => server.request('POST', '/api/public/ingestion', { key, body: { batch: [event] } });
    const refused = (await send(await keyWith(['spans:write']))).json;
    expect([refused.successes, refused.errors[0].message]).to.deep.equal([
      [],
      'This API key lacks the scope scores:write',
    ]);
    const stored = (await send(await keyWith(['spans:write', 'scores:write']))).json;
    expect([stored.errors, stored.successes.length]).to.deep.equal([[], 1]);
  });
});
