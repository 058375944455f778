import { bootServer, type BootOptions, type TestResponse, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

export interface DatasetApi {
  readonly server: TestServer;
  /** A call that is to succeed. @param path behind `/v1/datasets` */
  ok(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<any>;
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  /** Rows of a version as they are answered. */
  rows(name: string, ref?: string): Promise<Record<string, unknown>[]>;
  dispose(): Promise<void>;
}

/** On a project of a shared server, unless there are options. */
export async function datasetApi(options?: BootOptions): Promise<DatasetApi> {
  const server = await (options === undefined ? sharedServer() : bootServer(options));
  const call: DatasetApi['call'] = (method, path, body, headers) =>
    server.request(method, `/v1/datasets${path}`, {
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    });
  const ok: DatasetApi['ok'] = async (...sent) => {
    const response = await call(...sent);
    if (response.status >= 300) throw new Error(`${sent[0]} ${sent[1]}: ${response.status} ${response.text}`);
    return response.json;
  };
  return {
    server,
    ok,
    call,
    rows: async (name, ref = 'latest') => (await ok('GET', `/${name}/data/${ref}?limit=10000`)).rows,
    dispose: () => server.dispose(),
  };
}
