import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { NO_AUDIT_LOG } from '../../src/engine/identity/audit.js';
import { auditActionOf } from '../../src/engine/identity/audit-actions.js';
import { auditLines, type AuditRecord } from '../../src/engine/signals/catalog/audit.js';
import { createLogger } from '../../src/engine/signals/logger.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { createSignals } from '../../src/engine/signals/signals.js';
import { bootServer, type TestResponse, type TestServer } from '../harness/server.js';
import { sentSpan } from '../harness/span.js';
import { codeIn, ConsoleBrowser } from '../identity/console-browser.js';

type Line = Readonly<Record<string, unknown>>;

/** In every name and text that the test sends, and so in none of the lines. */
const MARK = 'zebra';

/** A log that is kept. */
function keptLog(level: 'info' | 'debug' = 'info') {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const lines = (): Line[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
      .filter(({ event }) => String(event) in auditLines);
  return { logger: createLogger({ level, format: 'json' }, stream), text: () => text, lines };
}

/** What is left of a line without what all lines have. The network of a sign-in is its own. */
function fieldsOf({ level: _level, message: _message, timestamp: _timestamp, request_id: _id, ...fields }: Line): Line {
  const { audit: _audit, address, ...rest } = fields;
  return rest['event'] === 'signedIn' ? { ...rest, address } : rest;
}

describe('The log of what people and programs did', () => {
  const log = keptLog();
  let server: TestServer;
  let project: string;
  /** The first key: who does everything, unless a test says otherwise. */
  let first: { readonly user_id: string; readonly key_id: string };
  const secrets: string[] = [];
  before(async () => {
    server = await bootServer({ logger: log.logger, env: { EXPORT_TO: 's3://nowhere' } });
    project = `/projects/${server.projectId}`;
    const { user, key } = (await server.request('GET', '/whoami')).json;
    first = { user_id: user.id, key_id: key.id };
    secrets.push(server.key);
  });
  after(() => server.dispose());

  /** Lines that came of an action. */
  async function linesOf<T>(action: () => Promise<T>): Promise<{ readonly result: T; readonly lines: Line[] }> {
    const before = log.lines().length;
    const result = await action();
    const lines = log.lines().slice(before);
    for (const { event, audit, address, user_id } of lines) {
      expect(audit).to.equal(auditActionOf(event as AuditRecord['event']));
      if (user_id !== undefined) expect(address, String(event)).to.match(/127\.0\.0/);
    }
    return { result, lines: lines.map(fieldsOf) };
  }
  const whose = () => ({ ...first, project_id: server.projectId });

  it('begins with the project and the key that the first start made, without anybody who did it', () => {
    expect(log.lines().slice(0, 2).map(fieldsOf)).to.deep.equal([
      { event: 'projectMade', project_id: server.projectId },
      { event: 'keyMade', project_id: server.projectId, subject_id: first.key_id, access: 'full' },
    ]);
  });

  const made: Record<string, string> = {};
  const idOf = (name: string) => made[name] ?? `no ${name}`;
  const keep =
    (name: string, at = 'id') =>
    ({ json }: TestResponse) =>
      (made[name] = at.split('.').reduce((value, part) => value[part], json));
  const judge = () => ({ name: MARK, evaluation_type: 'binary', prompt: `Is it a ${MARK}?` });
  const prompt = () => `${project}/prompts/${MARK}-slug`;
  const importedPrice = () => ({
    ...{
      provider: `${MARK}-co`,
      model: `${MARK}-2`,
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
    },
    ...{ input_per_million: 1, output_per_million: 2, cache_read_per_million: null },
  });
  const price = () => `${project}/model-prices/${MARK}-co/${MARK}-1`;

  interface Case {
    readonly what: string;
    readonly call: () => readonly [method: string, path: string, body?: object];
    readonly keep?: (answer: TestResponse) => void;
    readonly line: () => Line;
  }
  const deleted = (kind: string): Case => ({
    what: `deleting a ${kind}`,
    call: () => ['DELETE', `/${kind}s/${idOf(kind)}`],
    line: () => ({ event: `${kind}Deleted`, subject_id: idOf(kind) }),
  });
  /** Making, changing and deleting something of the project; another one is kept. */
  const about = (kind: string, body: () => object, path = `${kind}s`): Case[] => [
    {
      what: `making a ${kind}`,
      call: () => ['POST', `${project}/${path}`, body()],
      keep: keep(kind),
      line: () => ({ event: `${kind}Created`, subject_id: idOf(kind) }),
    },
    {
      what: `changing a ${kind}`,
      call: () => ['PATCH', `${project}/${path}/${idOf(kind)}`, { name: `${MARK} 2` }],
      line: () => ({ event: `${kind}Changed`, subject_id: idOf(kind), changed: ['name'] }),
    },
    {
      what: `deleting a ${kind}`,
      call: () => ['DELETE', `${project}/${path}/${idOf(kind)}`],
      line: () => ({ event: `${kind}Deleted`, subject_id: idOf(kind) }),
    },
  ];
  const cases: readonly Case[] = [
    {
      what: 'making a key',
      call: () => ['POST', `${project}/api-keys`, { name: MARK, access: 'read' }],
      keep: (answer) => {
        keep('key')(answer);
        secrets.push(answer.json.key);
      },
      line: () => ({ event: 'keyMade', subject_id: idOf('key'), access: 'read' }),
    },
    {
      what: 'revoking a key, by its id in capitals',
      call: () => ['DELETE', `${project}/api-keys/${idOf('key').toUpperCase()}`],
      line: () => ({ event: 'keyRevoked', subject_id: idOf('key') }),
    },
    {
      what: 'inviting somebody',
      call: () => ['POST', `${project}/invites`, { name: MARK }],
      keep: (answer) => {
        keep('person', 'user.id')(answer);
        secrets.push(codeIn(answer.json.url));
      },
      line: () => ({ event: 'personInvited', subject_id: idOf('person'), role: 'member' }),
    },
    {
      what: 'changing a role',
      call: () => ['PATCH', `${project}/members/${idOf('person').toUpperCase()}`, { role: 'viewer' }],
      line: () => ({ event: 'roleChanged', subject_id: idOf('person'), role: 'viewer', changed: ['role'] }),
    },
    {
      what: 'removing a person',
      call: () => ['DELETE', `${project}/members/${idOf('person')}`],
      line: () => ({ event: 'personRemoved', subject_id: idOf('person') }),
    },
    {
      what: 'renaming the project',
      call: () => ['PATCH', project, { name: MARK }],
      line: () => ({ event: 'projectRenamed', changed: ['name'] }),
    },
    {
      what: 'setting how long traces are kept',
      call: () => ['PATCH', project, { name: MARK, retention_days: 30 }],
      line: () => ({ event: 'retentionChanged', retention_days: 30, changed: ['retention_days'] }),
    },
    {
      what: 'keeping traces for ever',
      call: () => ['PATCH', project, { retention_days: null }],
      line: () => ({ event: 'retentionChanged', retention_days: null, changed: ['retention_days'] }),
    },
    {
      what: 'setting a price',
      call: () => ['PUT', price(), { input_per_million: 1, output_per_million: 2 }],
      line: () => ({ event: 'priceSet' }),
    },
    {
      what: 'setting masking rules',
      call: () => ['PUT', `${project}/masking`, { rules: [{ type: 'expression', expression: `${MARK}-masked` }] }],
      line: () => ({ event: 'maskingSet' }),
    },
    {
      what: 'setting the model budget',
      call: () => ['PUT', `${project}/model-budget`, { monthly_limit: 5 }],
      line: () => ({ event: 'modelBudgetSet', changed: ['monthly_limit'] }),
    },
    { what: 'removing a price', call: () => ['DELETE', price()], line: () => ({ event: 'priceRemoved' }) },
    {
      what: 'making a judge',
      call: () => ['POST', `${project}/judges`, judge()],
      keep: keep('judge'),
      line: () => ({ event: 'judgeMade', subject_id: idOf('judge') }),
    },
    {
      what: 'changing a judge',
      call: () => ['PATCH', `${project}/judges/${idOf('judge')}`, { name: `${MARK} 2` }],
      line: () => ({ event: 'judgeChanged', subject_id: idOf('judge'), changed: ['name'] }),
    },
    {
      what: 'deleting a judge',
      call: () => ['DELETE', `${project}/judges/${idOf('judge').toUpperCase()}`],
      line: () => ({ event: 'judgeDeleted', subject_id: idOf('judge') }),
    },
    {
      what: 'moving a tag',
      call: () => ['POST', `${prompt()}/tags/${MARK}:pin`, { version: 1 }],
      line: () => ({ event: 'tagMoved', subject_id: idOf('version'), changed: ['tag'] }),
    },
    {
      what: 'removing a tag',
      call: () => ['DELETE', `${prompt()}/tags/${MARK}`],
      line: () => ({ event: 'tagRemoved', subject_id: idOf('version'), changed: ['tag'] }),
    },
    {
      what: 'importing prices',
      call: () => ['POST', `${project}/import/prices`, [importedPrice()]],
      line: () => ({ event: 'metadataImported', part: 'prices', stored: 1 }),
    },
    {
      what: 'making a feedback link',
      call: () => ['POST', '/feedback-links', { prompt_slug: `${MARK}-slug` }],
      keep: (answer) => {
        keep('link')(answer);
        secrets.push(String(answer.json.url).split('/').at(-1) ?? '');
      },
      line: () => ({ event: 'linkMade', subject_id: idOf('link') }),
    },
    {
      what: 'changing a feedback link',
      call: () => ['PATCH', `/feedback-links/${idOf('link')}`, { expires_in_days: 3 }],
      line: () => ({ event: 'linkChanged', subject_id: idOf('link'), changed: ['expires_in_days'] }),
    },
    {
      what: 'revoking a feedback link',
      call: () => ['DELETE', `/feedback-links/${idOf('link')}`],
      line: () => ({ event: 'linkRevoked', subject_id: idOf('link') }),
    },
    {
      what: 'deleting a comment',
      call: () => ['DELETE', `${project}/comments/${idOf('comment')}`],
      line: () => ({ event: 'commentDeleted', subject_id: idOf('comment') }),
    },
    {
      what: 'sharing a trace',
      call: () => ['POST', `${project}/traces/${idOf('trace')}/share-links`, {}],
      keep: (answer) => {
        keep('share')(answer);
        secrets.push(String(answer.json.url).split('/').at(-1) ?? '');
      },
      line: () => ({ event: 'shareLinkMade', subject_id: idOf('share') }),
    },
    {
      what: 'revoking a link that shares a trace',
      call: () => ['DELETE', `${project}/share-links/${idOf('share')}`],
      line: () => ({ event: 'shareLinkRevoked', subject_id: idOf('share') }),
    },
    {
      what: 'switching share links off',
      call: () => ['PUT', `${project}/sharing`, { allowed: false }],
      line: () => ({ event: 'sharingSet', changed: ['share_links'] }),
    },
    {
      what: 'scheduling an export',
      call: () => [
        'POST',
        `${project}/scheduled-exports`,
        { name: MARK, list: 'spans', query: `names=${MARK}-none`, every_minutes: 60 },
      ],
      keep: keep('export'),
      line: () => ({ event: 'scheduledExportCreated', subject_id: idOf('export'), changed: ['list', 'format'] }),
    },
    {
      what: 'running an export now',
      call: () => ['POST', `${project}/scheduled-exports/${idOf('export')}:run`],
      line: () => ({ event: 'scheduledExportRun', subject_id: idOf('export') }),
    },
    {
      what: 'pausing an export',
      call: () => ['PATCH', `${project}/scheduled-exports/${idOf('export')}`, { paused: true }],
      line: () => ({ event: 'scheduledExportChanged', subject_id: idOf('export'), changed: ['paused'] }),
    },
    {
      what: 'deleting a scheduled export',
      call: () => ['DELETE', `${project}/scheduled-exports/${idOf('export')}`],
      line: () => ({ event: 'scheduledExportDeleted', subject_id: idOf('export') }),
    },
    ...about('monitor', () => ({ name: MARK, measure: 'count', window_minutes: 5, operator: 'above', threshold: 9 })),
    ...about('webhook', () => ({ name: MARK, kind: 'slack', target: `https://${MARK}.example.com/${MARK}` })),
    ...about('savedView', () => ({ name: MARK, list: 'spans' }), 'saved-views'),
    ...about('dashboard', () => ({ name: MARK, charts: [] })),
    {
      what: 'rotating the secret of a destination',
      call: () => ['POST', `${project}/webhooks/${idOf('hook')}:rotate`],
      keep: (answer) => secrets.push(answer.json.secret),
      line: () => ({ event: 'webhookRotated', subject_id: idOf('hook') }),
    },
    {
      what: 'making a version of a prompt',
      call: () => ['POST', `/v1/tasks/${MARK}-slug/prompt/versions/ensure`, { content: `Another ${MARK}` }],
      keep: keep('second'),
      line: () => ({ event: 'promptVersionMade', subject_id: idOf('second') }),
    },
    {
      what: 'binding a model to a version',
      call: () => ['PATCH', `${prompt()}/versions/2`, { model_id: MARK }],
      line: () => ({ event: 'promptVersionChanged', subject_id: idOf('second'), changed: ['model_id'] }),
    },
    {
      what: 'deleting a version',
      call: () => ['DELETE', `${prompt()}/versions/2`],
      line: () => ({ event: 'promptVersionDeleted', subject_id: idOf('second') }),
    },
    {
      what: 'recalculating costs',
      call: () => ['POST', `${project}/model-prices:reprice`, {}],
      keep: keep('reprice'),
      line: () => ({ event: 'repriceOrdered', subject_id: idOf('reprice') }),
    },
    {
      what: 'defining a score',
      call: () => ['PUT', `${project}/score-definitions/${MARK}`, { kind: 'boolean' }],
      line: () => ({ event: 'scoreDefinitionSet' }),
    },
    {
      what: 'deleting a score',
      call: () => ['DELETE', `/scores/${idOf('score')}`],
      line: () => ({ event: 'scoreDeleted', subject_id: idOf('score') }),
    },
    {
      what: 'deleting the definition of a score',
      call: () => ['DELETE', `${project}/score-definitions/${MARK}`],
      line: () => ({ event: 'scoreDefinitionDeleted' }),
    },
    {
      what: 'exporting a list',
      call: () => ['GET', '/spans:export?format=csv&fields=id'],
      line: () => ({ event: 'exported', part: 'spans', format: 'csv' }),
    },
    {
      what: 'exporting records',
      call: () => ['GET', `${project}/export/judges`],
      line: () => ({ event: 'recordsExported', part: 'judges' }),
    },
    {
      what: 'deleting an experiment',
      call: () => ['DELETE', `${project}/experiments/${idOf('experiment')}`],
      line: () => ({ event: 'experimentDeleted', subject_id: idOf('experiment') }),
    },
    deleted('span'),
    deleted('trace'),
    deleted('session'),
    {
      what: 'erasing a row of a dataset',
      call: () => ['DELETE', `/v1/datasets/${MARK}/rows/${MARK}`],
      line: () => ({ event: 'datasetRowErased', subject_id: idOf('dataset') }),
    },
    {
      what: 'changing a dataset',
      call: () => ['PATCH', `/v1/datasets/${MARK}`, { description: MARK }],
      line: () => ({ event: 'datasetChanged', subject_id: idOf('dataset'), changed: ['description'] }),
    },
    {
      what: 'deleting a dataset',
      call: () => ['DELETE', `/v1/datasets/${MARK}`],
      line: () => ({ event: 'datasetDeleted', subject_id: idOf('dataset') }),
    },
  ];

  before(async () => {
    const version = await server.request('POST', `/v1/tasks/${MARK}-slug/prompt/versions/ensure`, {
      body: { content: `A ${MARK}` },
    });
    keep('version')(version);
    keep('dataset')(await server.request('POST', '/v1/datasets', { body: { name: MARK } }));
    const hook = { name: MARK, kind: 'webhook', target: 'https://hooks.example.invalid', enabled: false };
    const withSecret = await server.request('POST', `${project}/webhooks`, { body: hook });
    keep('hook')(withSecret);
    secrets.push(withSecret.json.secret);
    await server.request('POST', `/v1/datasets/${MARK}/versions`, { body: { rows: [{ row_id: MARK, q: MARK }] } });
    const spans = ['span', 'trace', 'session'].map((kind) => {
      const span = sentSpan(MARK, { input_data: MARK, session_id: randomUUID(), tags: { animal: MARK } });
      made[kind] = { span: span.id, trace: span.trace_id, session: String((span as Line)['session_id']) }[kind] ?? '';
      return span;
    });
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
    const comments = `${project}/traces/${idOf('trace')}/comments`;
    keep('comment')(await server.request('POST', comments, { body: { text: MARK } }));
    const experiment = { name: MARK, dataset: MARK };
    keep('experiment')(await server.request('POST', `${project}/experiments`, { body: experiment }));
    const score = { entity_type: 'span', entity_id: made['span'], name: MARK, value: true };
    keep('score', '0.id')(await server.request('POST', '/scores', { body: score }));
  });

  for (const each of cases)
    it(`has one line of ${each.what}`, async () => {
      const [method, path, body] = each.call();
      const { result, lines } = await linesOf(() => server.request(method, path, { body }));
      expect(result.status, result.text).to.be.within(200, 204);
      each.keep?.(result);
      expect(lines).to.deep.equal([{ ...whose(), ...each.line() }]);
    });

  it('has two lines of a key that is rotated: of the new one, and of the old one', async () => {
    const old = await server.request('POST', `${project}/api-keys`, { body: { name: MARK, scopes: ['spans:read'] } });
    const path = `${project}/api-keys/${String(old.json.id)}:rotate`;
    const { result, lines } = await linesOf(() => server.request('POST', path, { body: {} }));
    secrets.push(old.json.key, result.json.key);
    expect(lines).to.deep.equal([
      { ...whose(), event: 'keyMade', subject_id: result.json.id, access: 'custom', scopes: ['spans:read'] },
      { ...whose(), event: 'keyRotated', subject_id: old.json.id },
    ]);
  });

  it('has one line of each deletion by filters, and of its end', async () => {
    const { confirm } = (
      await server.request('POST', `${project}/deletions`, {
        body: { dry_run: true, list: 'traces', query: `names=${MARK}-none` },
      })
    ).json;
    const { result, lines } = await linesOf(async () => {
      const order = () => server.request('POST', `${project}/deletions`, { body: { confirm } });
      const ids = (await Promise.all(Array.from({ length: 5 }, order))).map(({ json }) => String(json.id));
      // It waits for the others.
      const { status } = await server.request('POST', `${project}/deletions/${ids.at(-1)}:cancel`);
      expect(status).to.equal(200);
      return ids;
    });
    const ordered = result.map((subject_id) => ({
      ...{ event: 'selectionDeleted', subject_id },
      part: 'traces',
      found: 0,
    }));
    const canceled = { event: 'selectionDeletionCanceled', subject_id: result.at(-1) };
    expect(lines).to.have.deep.members([...ordered, canceled].map((line) => ({ ...whose(), ...line })));
  });

  it('has no line of what was refused, nor of what is not asked about', async () => {
    const { lines } = await linesOf(async () => {
      expect((await server.request('DELETE', `/traces/${randomUUID()}`)).status).to.equal(404);
      expect((await server.request('DELETE', `/spans/${idOf('span')}`)).status).to.equal(404);
      expect((await server.request('DELETE', `${project}/api-keys/${idOf('key')}`)).status).to.equal(404);
      expect((await server.request('DELETE', price())).status).to.equal(404);
      expect((await server.request('POST', `${project}/judges`, { body: {} })).status).to.equal(422);
      expect((await server.request('PATCH', project, { body: { name: MARK } })).status).to.equal(200);
    });
    expect(lines).to.deep.equal([]);
  });

  it('tells who signed in and from where, by a key or a link, and names the sign-in in what they do', async () => {
    const byKey = await linesOf(() => ConsoleBrowser.signedIn(server, { key: server.key }));
    const [signedIn] = byKey.lines;
    const sign_in_id = signedIn?.['sign_in_id'];
    const opened = { event: 'signedIn', projects: 1, address: signedIn?.['address'] };
    expect(signedIn).to.deep.equal({ ...whose(), ...opened, sign_in_id, with: 'key' });
    expect(signedIn?.['address']).to.match(/127\.0\.0/);

    const browser = byKey.result;
    const invited = await linesOf(() => browser.request('POST', `${project}/invites`, { body: { name: MARK } }));
    const { user, url } = invited.result.json;
    expect(invited.lines).to.deep.equal([
      { ...whose(), event: 'personInvited', sign_in_id, subject_id: user.id, role: 'member' },
    ]);
    const byLink = await linesOf(() => ConsoleBrowser.signedIn(server, { code: codeIn(url) }));
    const [line = {}] = byLink.lines;
    expect(line).to.include({ ...opened, user_id: user.id, project_id: server.projectId, with: 'link' });
    secrets.push(codeIn(url), browser.cookie.split('=')[1] ?? '', byLink.result.cookie.split('=')[1] ?? '');

    const subject_id = line['sign_in_id'];
    const ended = await linesOf(() => browser.request('DELETE', `${project}/sign-ins/${String(subject_id)}`));
    expect(ended.lines).to.deep.equal([{ ...whose(), event: 'signInEnded', sign_in_id, subject_id }]);
    const out = await linesOf(() => browser.request('DELETE', '/console/session'));
    expect(out.lines).to.deep.equal([{ ...whose(), event: 'signedOut', sign_in_id }]);
  });

  it('tells of a project that somebody made, and who joined it', async () => {
    const browser = await ConsoleBrowser.signedIn(server, { key: server.key });
    const made = await linesOf(() => browser.request('POST', '/projects', { body: { name: MARK } }));
    const { id } = made.result.json;
    const sign_in_id = made.lines[0]?.['sign_in_id'];
    expect(made.lines).to.deep.equal([{ ...whose(), event: 'projectMade', project_id: id, sign_in_id }]);
    const invite = (of: string) => ({ body: { name: MARK, role: 'viewer' }, project: of });
    const guest = (await browser.request('POST', `${project}/invites`, invite(server.projectId))).json;
    const other = await ConsoleBrowser.signedIn(server, { code: codeIn(guest.url) });
    const code = codeIn((await browser.request('POST', `/projects/${id}/invites`, invite(id))).json.url);
    const { lines } = await linesOf(() => other.request('POST', '/console/session:join', { body: { code } }));
    const [line = {}] = lines;
    expect(lines).to.have.length(1);
    expect(line).to.include({ event: 'personJoined', user_id: guest.user.id, project_id: id, role: 'viewer' });
    secrets.push(code, codeIn(guest.url), browser.cookie.split('=')[1] ?? '', other.cookie.split('=')[1] ?? '');
  });

  it('tells of a project that was deleted', async () => {
    const { result, lines } = await linesOf(() => server.request('DELETE', project));
    expect(result.status).to.equal(202);
    expect(lines).to.deep.equal([{ ...whose(), event: 'projectDeleted' }]);
  });

  it('has had every line that there is', () => {
    const { auditNotListed: _tested, ...events } = auditLines;
    expect(log.lines().map(({ event }) => event)).to.include.members(Object.keys(events));
  });

  it('holds no name, no text and no secret', () => {
    expect(log.text()).not.to.include(MARK);
    expect(secrets).to.have.length(16);
    for (const secret of secrets) {
      expect(secret.length).to.be.at.least(20);
      expect(log.text()).not.to.include(secret);
    }
  });
});

describe('Audit lines of a project that does the same without end', () => {
  const record = (project_id: string, user_id = 'u'): AuditRecord => ({
    event: 'spanDeleted',
    by: { user_id, key_id: 'k', sign_in_id: null },
    project_id,
    subject_id: 's',
  });

  it('are a hundred a minute, and how many more there were', () => {
    const log = keptLog();
    const events = createSignals(log.logger, createMetrics());
    for (let count = 0; count < 250; count++) events.done(record('loud'));
    events.done(record('quiet'));
    events.done({ ...record('loud'), event: 'keyMade' });
    events.done(record('loud', 'another'));
    const written = log.lines().map(({ event, project_id }) => `${String(event)} of ${String(project_id)}`);
    expect(written).to.have.length(103);
    expect(written.slice(100)).to.deep.equal(['spanDeleted of quiet', 'keyMade of loud', 'spanDeleted of loud']);
    events.auditEnded();
    expect(log.lines().slice(103).map(fieldsOf)).to.deep.equal([
      { event: 'auditNotListed', what: 'spanDeleted', project_id: 'loud', user_id: 'u', count: 150 },
    ]);
    events.done(record('loud'));
    expect(log.lines()).to.have.length(105);
    events.auditEnded();
  });

  it('are all there at level debug', () => {
    const log = keptLog('debug');
    const events = createSignals(log.logger, createMetrics());
    for (let count = 0; count < 250; count++) events.done(record('loud'));
    expect(log.lines()).to.have.length(250);
    events.auditEnded();
  });

  it('are none where a program has no log', () => {
    expect(() => NO_AUDIT_LOG.done(record('any'))).not.to.throw();
  });
});
