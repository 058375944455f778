import crypto from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import S3rver, { type S3Context } from '@20minutes/s3rver';

const NAME = 'spanhouse-backups';
const KEY = 'S3RVER';

export interface BucketRequest {
  readonly method: string;
  /** Empty: the request is about the bucket. */
  readonly key: string;
  readonly query: Readonly<Record<string, string | undefined>>;
}

/** What becomes of a request; nothing: it is answered. */
export type Fault = 'slow down' | 'break off' | 'lost' | undefined;

/** A bucket of a real server that speaks S3, with what that server lacks of S3 put in front of it. */
export class Bucket {
  readonly address = `s3://${NAME}/of/tests`;
  readonly endpoint: string;
  /** Where its objects lie, as `<key>._S3rver_object`. */
  readonly directory: string;
  /** Environment that opens it. */
  readonly env: Readonly<Record<string, string>>;
  /** Called for every request before it is answered. */
  onRequest: (request: BucketRequest) => Promise<Fault> | Fault = () => undefined;
  /** Requests that brought bytes whose hash was not signed. */
  unsigned = 0;
  readonly #server: S3rver;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(server: S3rver, directory: string, port: number) {
    this.#server = server;
    this.directory = join(directory, NAME);
    this.endpoint = `http://127.0.0.1:${port}`;
    this.env = {
      BACKUP_S3_ENDPOINT: this.endpoint,
      BACKUP_S3_FORCE_PATH_STYLE: 'true',
      BACKUP_S3_ACCESS_KEY_ID: KEY,
      BACKUP_S3_SECRET_ACCESS_KEY: KEY,
    };
  }

  /** Starts it, and lets commands find it by the environment of the tests. */
  static async start(): Promise<Bucket> {
    restoreDes();
    const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bucket-'));
    const configureBuckets = [{ name: NAME }];
    const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets });
    const started: { bucket?: Bucket } = {};
    server.middleware.unshift(async (context, next) => started.bucket?.answer(context, next));
    const { port } = await server.run();
    started.bucket = new Bucket(server, directory, port);
    Object.assign(process.env, started.bucket.env);
    return started.bucket;
  }

  async stop(): Promise<void> {
    for (const name of Object.keys(this.env)) Reflect.deleteProperty(process.env, name);
    const closed = this.#server.close();
    this.#server.httpServer.closeAllConnections();
    await closed;
    await rm(join(this.directory, '..'), { recursive: true, force: true });
  }

  /** Where an object lies. */
  file(name: string): string {
    return join(this.directory, 'of/tests', `${name}._S3rver_object`);
  }

  has(name: string): boolean {
    return existsSync(this.file(name));
  }

  /** Uploads in parts that were neither completed nor given up. */
  async uploads(): Promise<{ readonly id: string; readonly key: string }[]> {
    const folder = join(this.directory, '._S3rver_uploads');
    const ids = existsSync(folder) ? await readdir(folder) : [];
    return Promise.all(ids.map(async (id) => ({ id, key: await readFile(join(folder, id, 'key'), 'utf8') })));
  }

  private async answer(context: S3Context, next: () => Promise<void>): Promise<void> {
    const { method, query, headers } = context;
    const key = decodeURIComponent(context.path).slice(NAME.length + 2);
    const fault = await this.onRequest({ method, key, query });
    if (fault === 'lost') {
      context.respond = false;
      context.res.destroy();
      return;
    }
    if (fault === 'slow down') {
      refuse(context, 503, 'SlowDown');
      return;
    }
    if (method === 'PUT' && !/^[0-9a-f]{64}$/.test(headers['x-amz-content-sha256'] ?? '')) this.unsigned += 1;
    if (method === 'GET' && 'uploads' in query) return this.listUploads(context);
    if (method === 'DELETE' && query['uploadId'] !== undefined) return this.abort(context, query['uploadId']);
    const { 'if-match': match, 'if-none-match': noneMatch } = headers;
    if (method === 'PUT' && (match !== undefined || noneMatch !== undefined)) {
      const turn = this.#writing.then(async () => {
        const etag = this.has(key.slice('of/tests/'.length)) ? await this.etag(key) : null;
        if (noneMatch !== undefined ? etag !== null : etag !== match) refuse(context, 412, 'PreconditionFailed');
        else await next();
      });
      this.#writing = turn.catch(() => undefined);
      return turn;
    }
    if (key === '') trust(context);
    await next();
    if (fault === 'break off') breakOff(context);
  }

  private async etag(key: string): Promise<string> {
    return (await this.#server.store.getMetadata(NAME, key)).etag;
  }

  private async listUploads(context: S3Context): Promise<void> {
    const uploads = (await this.uploads()).filter(({ key }) => key.startsWith(context.query['prefix'] ?? ''));
    const items = uploads.map(({ id, key }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    answerXml(context, 200, `<ListMultipartUploadsResult>${items.join('')}</ListMultipartUploadsResult>`);
  }

  private async abort(context: S3Context, id: string): Promise<void> {
    await rm(join(this.directory, '._S3rver_uploads', id), { recursive: true, force: true });
    context.status = 204;
  }
}

/** The server forgets the slash at the end of a bucket's path when it looks at signatures: those about the bucket differ. */
function trust(context: S3Context): void {
  const app: unknown = Object.create(context.app, { allowMismatchedSignatures: { value: true } });
  Object.defineProperty(context, 'app', { value: app });
}

/** Sends half of what there is, and then nothing more. */
function breakOff(context: S3Context): void {
  const whole = context.body as AsyncIterable<Buffer>;
  const half = async function* () {
    for await (const piece of whole) {
      yield piece.subarray(0, Math.ceil(piece.length / 2));
      break;
    }
    // After these have left.
    setTimeout(() => context.res.destroy(), 20);
    await new Promise((resolve) => context.res.once('close', resolve));
  };
  const { length } = context;
  context.body = Readable.from(half());
  context.length = length;
}

function refuse(context: S3Context, status: number, code: string): void {
  answerXml(context, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function answerXml(context: S3Context, status: number, xml: string): void {
  context.status = status;
  context.type = 'application/xml';
  context.body = `<?xml version="1.0" encoding="UTF-8"?>\n${xml}`;
}

/** The server marks the pages of long lists by single DES, which newer OpenSSL lacks; DES three times with one key is the same. */
function restoreDes(): void {
  if (crypto.getCiphers().includes('des-cbc')) return;
  for (const name of ['createCipheriv', 'createDecipheriv'] as const) {
    const create = crypto[name] as (cipher: string, key: Buffer, iv: Buffer) => unknown;
    Object.assign(crypto, {
      [name]: (cipher: string, key: Buffer, iv: Buffer) =>
        cipher === 'des' ? create('des-ede3-cbc', Buffer.concat([key, key, key]), iv) : create(cipher, key, iv),
    });
  }
}
