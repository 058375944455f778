import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { send, type TestResponse, type TestServer } from '../harness/server.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const program = programFile('admin');

/** What the admin program answers beside a running server. */
export async function admin(dataDir: string, ...args: string[]): Promise<any> {
  const env = { ...process.env, DATA_DIR: dataDir };
  return JSON.parse((await run(process.execPath, [program, '--json', ...args], { env })).stdout);
}

/** The code of a URL that signs in. */
export function codeIn(url: string): string {
  return /^http.*\/console#code=([A-Za-z0-9_-]{43})$/.exec(url)?.[1] ?? `no code in ${url}`;
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: the header is not sent. Default: the server's own project. */
  readonly project?: string | null;
}

/** A browser that keeps the cookie of the console. */
export class ConsoleBrowser {
  readonly #server: Pick<TestServer, 'url' | 'projectId'>;
  /** Name and value. */
  cookie = '';

  constructor(server: Pick<TestServer, 'url' | 'projectId'>) {
    this.#server = server;
  }

  static async signedIn(
    server: Pick<TestServer, 'url' | 'projectId'>,
    credentials: { readonly code: string } | { readonly key: string },
  ): Promise<ConsoleBrowser> {
    const browser = new ConsoleBrowser(server);
    const { status, text } = await browser.signIn(credentials);
    if (status !== 204) throw new Error(`Not signed in: ${status} ${text}`);
    return browser;
  }

  async signIn(credentials: unknown, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    const cookie = this.cookie === '' ? {} : { cookie: this.cookie };
    const url = `${this.#server.url}/console/session`;
    const response = await send(url, 'POST', { body: credentials, headers: { ...cookie, ...headers } });
    this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.cookie;
    return response;
  }

  request(method: string, path: string, { body, headers, project }: Sent = {}): Promise<TestResponse> {
    const named = project === null ? {} : { 'spanhouse-project': project ?? this.#server.projectId };
    return send(this.#server.url + path, method, {
      ...(body === undefined ? {} : { body }),
      headers: { cookie: this.cookie, ...named, ...headers },
    });
  }

  async status(method: string, path: string, sent?: Sent): Promise<number> {
    return (await this.request(method, path, sent)).status;
  }
}
