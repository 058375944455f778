import { bootServer, type BootOptions, type TestResponse, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

export interface ExperimentApi {
  readonly server: TestServer;
  call(method: string, path: string, body?: unknown): Promise<TestResponse>;
  /** A call that is to succeed. @param path of the server; with `~`, behind the project's experiments */
  ok(method: string, path: string, body?: unknown): Promise<any>;
  /** Makes a dataset with rows `r1`, `r2`, … */
  dataset(name: string, rows: number): Promise<{ readonly id: string; readonly name: string }>;
  create(dataset: string, more?: object): Promise<any>;
  dispose(): Promise<void>;
}

/** On a project of a shared server, unless there are options. */
export async function experimentApi(options?: BootOptions): Promise<ExperimentApi> {
  const server = await (options === undefined ? sharedServer() : bootServer(options));
  const call: ExperimentApi['call'] = (method, path, body) =>
    server.request(
      method,
      path.replace(/^~/, `/projects/${server.projectId}/experiments`),
      body === undefined ? {} : { body },
    );
  const ok: ExperimentApi['ok'] = async (...sent) => {
    const response = await call(...sent);
    if (response.status >= 300) throw new Error(`${sent[0]} ${sent[1]}: ${response.status} ${response.text}`);
    return response.json;
  };
  return {
    ...{ server, call, ok },
    async dataset(name, rows) {
      const made = await ok('POST', '/v1/datasets', { name });
      const all = Array.from({ length: rows }, (_none, index) => ({
        id: `r${index + 1}`,
        question: `Question ${index + 1}`,
      }));
      await ok('POST', `/v1/datasets/${name}/versions`, { rows: all });
      return made;
    },
    create: (dataset, more = {}) => ok('POST', '~', { name: 'trial', dataset, ...more }),
    dispose: () => server.dispose(),
  };
}
