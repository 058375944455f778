import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { mailOf } from '../../src/features/webhooks/render.js';
import { createMailSender } from '../../src/features/webhooks/sending/mail-sender.js';
import { SqliteWebhookStore } from '../../src/features/webhooks/store/webhook-store.js';
import type { Delivery } from '../../src/features/webhooks/webhook.js';
import { WebhookLoop } from '../../src/features/webhooks/webhook-loop.js';
import { uuid } from '../harness/checked-api.js';
import { nodeFolderWith, requireInstalled } from '../harness/foreign-packages.js';
import { until } from '../harness/until.js';
import { webhook } from './destination.js';

const { cwd, install } = nodeFolderWith({
  folder: 'spanhouse-test-smtp-server-3.16.1',
  packages: ['smtp-server@3.16.1'],
  check: 'import "smtp-server";',
});
const execute = promisify(execFile);
/** How long the sender waits for a server that says nothing. */
const DEADLINE_MS = 500;
const USER = { user: 'spanhouse', pass: 'secret of the operator' };

type Done = (error?: Error & { responseCode?: number }, more?: object) => void;
interface Session {
  readonly secure: boolean;
  readonly user?: string;
  readonly envelope: { readonly rcptTo: readonly { readonly address: string }[] };
}
interface Smtp {
  readonly server: Server;
  listen(port: number, host: string, listening: () => void): void;
  close(closed: () => void): void;
  on(event: 'error', listener: () => void): void;
}
interface Received {
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly to: readonly string[];
  readonly text: string;
}
/** What the server says to a recipient, and to a message: an error refuses. */
interface Way {
  readonly rcpt?: number;
  readonly data?: number;
  readonly silent?: boolean;
}

const refusal = (responseCode: number) =>
  Object.assign(new Error(`refused with internals of mail.example.internal`), { responseCode });

describe('emails by an SMTP server, unchanged', function () {
  this.timeout(240_000);
  let folder: string;
  let database: Database;
  let store: SqliteWebhookStore;
  let smtp: Smtp;
  let certificate: string;
  let way: Way = {};
  let received: Received[] = [];
  let told: { reason: string | null }[] = [];
  let givenUp = 0;
  let loop: WebhookLoop | undefined;
  let closeSender: (() => Promise<void>) | undefined;
  let destinations = 0;

  before(async function () {
    await requireInstalled(
      this,
      install().then((is) => (is ? certified() : false)),
    );
    folder = mkdtempSync(join(tmpdir(), 'spanhouse-smtp-'));
    const [key, cert] = await makeCertificate(folder);
    certificate = cert;
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('project', 'p', 0);
      INSERT INTO users (id, name, created_at) VALUES ('user', 'u', 0);`);
    store = new SqliteWebhookStore(database);
    smtp = await serve(key, cert);
  });
  beforeEach(() => {
    [way, received, told, givenUp] = [{}, [], [], 0];
  });
  afterEach(async () => {
    await loop?.close();
    await closeSender?.();
    [loop, closeSender] = [undefined, undefined];
  });
  after(async () => {
    if (folder === undefined) return;
    await new Promise<void>((resolve) => smtp.close(resolve));
    database.close();
    rmSync(folder, { recursive: true });
  });

  async function serve(key: string, cert: string): Promise<Smtp> {
    const entry = pathToFileURL(join(cwd, 'node_modules', 'smtp-server', 'lib', 'smtp-server.js')).href;
    const { SMTPServer } = (await import(entry)) as { SMTPServer: new (options: object) => Smtp };
    const server = new SMTPServer({
      ...{ key, cert, size: 1_000_000, closeTimeout: 100 },
      onAuth({ username, password }: { username: string; password: string }, _session: Session, done: Done) {
        if (username === USER.user && password === USER.pass) done(undefined, { user: username });
        else done(refusal(535));
      },
      onRcptTo(_address: unknown, _session: Session, done: Done) {
        done(way.rcpt === undefined ? undefined : refusal(way.rcpt));
      },
      onData(stream: NodeJS.ReadableStream, { secure, user, envelope }: Session, done: Done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (way.silent === true) return;
          if (way.data !== undefined) {
            done(refusal(way.data));
            return;
          }
          const to = envelope.rcptTo.map(({ address }) => address);
          received.push({ secure, user, to, text: Buffer.concat(chunks).toString() });
          done();
        });
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** @param options of the URL, beside the certificate */
  function url(options: Record<string, string> = {}, { user, pass } = USER): string {
    const { port } = smtp.server.address() as AddressInfo;
    const query = new URLSearchParams({ 'tls.ca': certificate, 'tls.servername': 'localhost', ...options });
    return `smtp://${encodeURIComponent(user)}:${encodeURIComponent(pass)}@127.0.0.1:${port}?${query.toString()}`;
  }

  /** Tells a new destination of something. @returns its delivery, once it is as described */
  async function tell(
    summary: string,
    { settings = url(), holds }: { readonly settings?: string; readonly holds: (delivery: Delivery) => boolean },
  ): Promise<Delivery> {
    destinations += 1;
    const id = uuid(destinations);
    const of = { project_id: 'project', created_by: 'user', kind: 'email', target: 'ann@example.com' } as const;
    store.insert(webhook({ id, ...of }), 100);
    const data = { name: summary };
    const url = 'https://spanhouse.example.com/console/p/project/monitors/x';
    const body = {
      id: uuid(1000 + destinations),
      project_id: 'project',
      type: 'monitor.fired',
      summary,
      data,
      url,
    } as const;
    store.add({ ...body, created_at: '2026-01-01T00:00:00Z' }, id, Date.now() * 1000);
    const sender = createMailSender({ url: settings, from: 'Spanhouse <house@example.com>' }, DEADLINE_MS);
    closeSender = () => sender.close();
    const ignored = () => undefined;
    loop = new WebhookLoop({
      store,
      async send(due) {
        await sender.send(due.webhook.target, mailOf(due));
        return { status: null, response: null };
      },
      isGone: () => false,
      observer: {
        webhookDelivered: ignored,
        webhookFailed: (failure) => told.push(failure),
        webhookGivenUp: ({ deliveries }) => (givenUp += deliveries),
        webhooksFailed: ({ error }) => expect.fail(String(error)),
      },
    });
    loop.wake();
    const newest = () => store.deliveries(id, { limit: 1, offset: 0 })[0];
    await until('the delivery', () => {
      const delivery = newest();
      return delivery !== undefined && holds(delivery);
    });
    await loop.close();
    return newest() as Delivery;
  }
  const delivered = ({ state }: Delivery) => state === 'delivered';
  const tried = ({ attempts }: Delivery) => attempts === 1;

  it('go by TLS and with the login of the operator', async () => {
    await tell('A monitor fires', { holds: delivered });
    expect(received).to.have.length(1);
    const [mail] = received;
    expect(mail).to.deep.include({ secure: true, user: USER.user, to: ['ann@example.com'] });
    expect(mail?.text).to.include('Subject: [Spanhouse] A monitor fires');
    expect(mail?.text).to.match(/^https:\/\/spanhouse\.example\.com\/console\/p\/project\/monitors\/x\r$/m);
    expect(mail?.text).to.match(/^From: Spanhouse <house@example\.com>\r$/m);
  });

  it('are not sent to a server whose certificate is not known, and retried', async () => {
    const settings = url().replace(/tls\.ca=[^&]*&/, '');
    const { state, last } = await tell('Secret', { settings, holds: tried });
    expect([state, received]).to.deep.equal(['waiting', []]);
    expect(last?.error).to.equal('The mail server could not be used; the operator finds why in the server log');
    expect(told[0]?.reason).to.match(/certificate/i);
  });

  it('are retried when the login is refused, of which the project learns no more than that', async () => {
    const { state, last } = await tell('x', { settings: url({}, { user: 'x', pass: 'wrong' }), holds: tried });
    expect(state).to.equal('waiting');
    expect(last?.error).to.equal(
      'The mail server did not take the mail (535); the operator finds why in the server log',
    );
    expect(told[0]?.reason).to.include('mail.example.internal');
  });

  for (const [what, refused] of [
    ['recipient', { rcpt: 450 }],
    ['message', { data: 451 }],
  ] as const)
    it(`are retried when the ${what} is refused for now (4xx)`, async () => {
      way = refused;
      const { state, next_at } = await tell('x', { holds: tried });
      expect([state, givenUp]).to.deep.equal(['waiting', 0]);
      expect(next_at).to.be.above(Date.now() * 1000);
    });

  for (const [what, refused] of [
    ['recipient', { rcpt: 550 }],
    ['message', { data: 554 }],
  ] as const)
    it(`are given up at once when the ${what} is refused for good (5xx), and keep no other mail waiting`, async () => {
      way = refused;
      const { state, attempts, last } = await tell('x', { holds: ({ state: now }) => now === 'given_up' });
      expect([state, attempts, givenUp]).to.deep.equal(['given_up', 1, 1]);
      expect(last?.error).to.match(/^The mail server refused the mail for good \(55[04]\)$/);
      expect(store.find('project', uuid(destinations))).to.include({ failures: 1, paused_to: 0, waiting: 0 });
    });

  it('are retried when the server does not answer', async () => {
    way = { silent: true };
    const { state, last } = await tell('x', { holds: tried });
    expect(state).to.equal('waiting');
    expect(last?.ms).to.be.at.least(DEADLINE_MS - 50);
  });

  const NAMES = [
    'x\r\nBcc: eve@example.com\r\n\r\nAnother body',
    'x\nTo: eve@example.com',
    'x\u2028Cc: eve@example.com\u0085Bcc: eve@example.com',
    '=?utf-8?Q?x=0D=0ABcc:_eve@example.com?=',
    `${'long '.repeat(100)}\u{1f600}`,
    '\ud800 half of a character',
    'x\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<eve@example.com>\r\nDATA\r\n',
  ];
  it('have the headers and the recipient that they are to have, whatever monitors are called', async () => {
    for (const [number, name] of NAMES.entries()) {
      await tell(name, { holds: delivered });
      expect(received, JSON.stringify(name)).to.have.length(number + 1);
      const { to, text = '' } = received.at(-1) ?? {};
      expect(to).to.deep.equal(['ann@example.com']);
      const headers = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
      const named = headers.split('\r\n').map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
      expect(named).to.have.members([
        ...['from', 'to', 'subject', 'message-id', 'date', 'mime-version', 'content-type', 'content-transfer-encoding'],
      ]);
      expect(headers).to.not.match(/[\n\u2028\u0085](?!\S)/);
    }
  });
});

/** Whether there is what makes certificates. */
const certified = () =>
  execute('openssl', ['version']).then(
    () => true,
    () => false,
  );

/** @returns key and certificate of `localhost` */
async function makeCertificate(folder: string): Promise<[key: string, certificate: string]> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const of = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  const files = ['-keyout', key, '-out', certificate];
  await execute('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...of]);
  return [readFileSync(key, 'utf8'), readFileSync(certificate, 'utf8')];
}
