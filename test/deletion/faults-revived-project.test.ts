import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { DeletionStep } from '../../src/features/deletion/deletion-work.js';
import { DomainError } from '../../src/engine/errors.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { createLogger } from '../../src/engine/signals/logger.js';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { eventually } from '../judges/judge-api.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const admin = programFile('admin');

describe('a project that is being deleted', function () {
  this.timeout(60_000);
  let dataDir: string;
  let server: TestServer;
  let log: string[];
  /** What a test does at each step of a deletion. */
  let atStep: (step: DeletionStep) => void;

  beforeEach(async () => {
    atStep = () => undefined;
    dataDir = await freshDataDir('spanhouse-revived-');
    await boot();
  });
  afterEach(async () => {
    await server.stop();
    await removeDirectory(dataDir);
  });

  async function boot(): Promise<void> {
    log = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        log.push(...String(chunk).split('\n').filter(Boolean));
        done();
      },
    });
    const logger = createLogger({ level: 'info', format: 'json' }, stream);
    server = await bootServer({ dataDir, logger, onDeletionStep: (step) => atStep(step) });
  }
  const events = () => log.map((line) => (JSON.parse(line) as { event?: string }).event);
  const span = () => [{ id: randomUUID(), trace_id: randomUUID(), name: 'a', started_at: '2026-01-15T10:00:00Z' }];
  const whoami = async () => (await server.request('GET', '/whoami')).status;
  const failAt = (failing: DeletionStep) => {
    atStep = (step) => {
      if (step === failing) throw new Error('held up by the test');
    };
  };
  const command = (...words: string[]) =>
    run(process.execPath, [admin, '--json', ...words], { env: { ...process.env, DATA_DIR: dataDir } }).then(
      ({ stdout }) => stdout,
      (failed: unknown) => (failed as { stderr: string }).stderr,
    );

  it('is made again by a start with its init key as soon as nothing is left of it, and not before', async () => {
    expect((await server.request('POST', '/spans', { body: span() })).status).to.equal(200);
    failAt('spans');
    expect((await server.request('DELETE', `/projects/${server.projectId}`)).status).to.equal(202);
    await server.stop();
    await boot();
    expect(events()).to.include('initProjectGoing').and.to.not.include('initProjectMade');
    expect(await whoami()).to.equal(401);
    expect((await server.request('POST', '/spans', { body: span() })).status).to.equal(401);
    atStep = () => undefined;
    await eventually(whoami, (status) => status === 200);
    expect(events()).to.include('initProjectMade');
    expect((await server.request('GET', '/spans')).json).to.deep.equal([]);
    expect((await server.request('POST', '/spans', { body: span() })).status).to.equal(200);
    expect((await server.request('GET', '/spans')).json).to.have.length(1);
    await server.stop();
    await boot();
    expect(events()).to.not.include('initProjectGoing');
    expect((await server.request('GET', '/spans')).json).to.have.length(1);
  });

  it('is not made again, and gets no key, by the admin program', async () => {
    const { projectId } = makeProject(dataDir);
    failAt('records');
    expect(await command('delete-project', projectId)).to.include('ordered');
    expect(await command('create-project', 'again', '--id', projectId.toUpperCase())).to.match(
      /is being deleted: create it again after that/,
    );
    expect(await command('create-key', '--project', projectId)).to.match(/is being deleted and cannot get new keys/);
    atStep = () => undefined;
    const made = () => command('create-project', 'again', '--id', projectId);
    await eventually(made, (said) => said.includes('created_at'));
    expect(await command('create-key', '--project', projectId)).to.include('"key"');
  });

  it('opens to none of its keys, whoever stored it', async () => {
    const { projectId } = makeProject(dataDir);
    failAt('spans');
    await command('delete-project', projectId);
    await eventually(
      async () => events(),
      (said) => said.includes('deletionFailed'),
    );
    const metadata = openMetadataStore(dataDir);
    const identity = new IdentityService({
      // As an earlier version of the admin program made keys.
      store: new Proxy(metadata.identities, {
        get(store, name) {
          if (name === 'isBeingDeleted') return () => false;
          const member = Reflect.get(store, name) as unknown;
          return typeof member === 'function' ? (member.bind(store) as unknown) : member;
        },
      }),
    });
    try {
      const { key } = identity.createKey({ projectId, userId: identity.listUsers()[0]!.id, name: 'late' });
      expect((await send(`${server.url}/spans`, 'POST', { key, body: span() })).status).to.equal(401);
      expect((await send(`${server.url}/whoami`, 'GET', { key })).status).to.equal(401);
    } finally {
      identity.close();
      metadata.close();
    }
  });

  it('is not deleted again by a retry once it was made again', async () => {
    const { projectId, key } = makeProject(dataDir);
    let again: ReturnType<typeof makeProject> | undefined;
    atStep = (step) => {
      if (step !== 'end' || again !== undefined) return;
      // Nothing is left of it by now.
      again = makeProject(dataDir, { id: projectId });
      throw new Error('cut off by the test');
    };
    expect((await send(`${server.url}/projects/${projectId}`, 'DELETE', { key })).status).to.equal(202);
    await eventually(
      async () => events().filter((event) => event === 'deletionFailed').length,
      (failed) => failed === 1,
    );
    const asAgain = (method: string, path: string, body?: unknown) =>
      send(server.url + path, method, { key: again?.key ?? null, ...(body === undefined ? {} : { body }) });
    expect((await asAgain('POST', '/spans', span())).status).to.equal(200);
    await eventually(
      async () => events(),
      (said) => said.includes('projectDeleted'),
    );
    const { status, json } = await asAgain('GET', '/spans');
    expect([status, (json as unknown[]).length]).to.deep.equal([200, 1]);
  });

  it('is refused as a conflict by the service', () => {
    const metadata = openMetadataStore(dataDir);
    const identity = new IdentityService({ store: metadata.identities });
    try {
      const { id } = identity.createProject({ name: 'doomed' });
      // Held up for as long as this turn of the event loop.
      metadata.deletions.orderProject(id, Date.now() * 1000);
      for (const refused of [
        () => identity.createProject({ name: 'again', id }),
        () => identity.createKey({ projectId: id, userId: identity.listUsers()[0]!.id, name: 'late' }),
      ])
        expect(refused)
          .to.throw(DomainError, /being deleted/)
          .with.property('kind', 'conflict');
    } finally {
      identity.close();
      metadata.close();
    }
  });
});
