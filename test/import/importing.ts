import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runImport, targetOf, type ImportReport } from '../../scripts/import/run.js';
import { openSource } from '../../scripts/import/sources.js';
import type { SourceOptions } from '../../scripts/import/source-options.js';
import type { Source, Step } from '../../scripts/import/step.js';
import { Remote } from '../../scripts/transfer/remote.js';
import { makeProject } from '../harness/projects.js';
import { send, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

/** A folder of files that an import reads, and of what it notes. */
export class ImportFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<ImportFolder> {
    return new ImportFolder(await mkdtemp(join(tmpdir(), 'spanhouse-import-')));
  }

  async write(name: string, content: string | Buffer): Promise<string> {
    const path = join(this.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  get state(): string {
    return join(this.path, 'state.json');
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** A project and a folder of its own for each test of a suite, on the server that suites share. */
export function importScene() {
  let shared: TestServer;
  const scene = {} as { server: TestServer; folder: ImportFolder };
  before(async () => {
    shared = await sharedServer();
  });
  after(() => shared.dispose());
  beforeEach(async () => {
    scene.server = projectOn(shared);
    scene.folder = await ImportFolder.make();
  });
  afterEach(() => scene.folder.remove());
  return scene as Readonly<typeof scene>;
}

/** A project of its own on a server. */
export function projectOn(server: TestServer): TestServer {
  const { projectId, key } = makeProject(server.dataDir);
  const request: TestServer['request'] = (method, path, given = {}) =>
    send(server.url + path, method, { key, ...given });
  return { ...server, projectId, key, request };
}

interface Given {
  readonly from: string;
  readonly paths?: readonly string[];
  readonly options?: SourceOptions;
  readonly state?: string;
  readonly restart?: boolean;
  /** After how many steps the import is cut off. */
  readonly cutAfter?: number;
}

const QUIET = () => ({ update: () => undefined, stop: () => undefined });

/** Imports into the project of a server. @returns null: it was cut off */
export async function importInto(server: Pick<TestServer, 'url' | 'key'>, given: Given): Promise<ImportReport | null> {
  const { from, paths = [], options = {}, state = null, restart = false, cutAfter } = given;
  const source = await openSource(from, paths, options);
  const target = await targetOf(new Remote(server.url, server.key), false);
  const cut = cutAfter === undefined ? source : cutOff(source, cutAfter);
  try {
    return await runImport(cut, target, { state, restart }, QUIET);
  } catch (error) {
    if (error instanceof CutOff) return null;
    throw error;
  }
}

class CutOff extends Error {}

/** The source, which fails after so many steps other than those of progress. */
function cutOff(source: Source, steps: number): Source {
  return {
    ...source,
    async *read(cursor: unknown, project: string): AsyncGenerator<Step> {
      let left = steps;
      for await (const step of source.read(cursor, project)) {
        if (step.type !== 'progress' && (left -= 1) < 0) throw new CutOff();
        yield step;
      }
    },
  };
}

/** What the server says of all spans of a project. */
export async function figuresOf(server: TestServer, query = '') {
  const { json } = await server.request('GET', `/spans:stats?measures=count,cost,tokens${query}`);
  const { count, cost, tokens } = json.totals;
  return {
    count: count as number,
    cost: cost as number | null,
    input: tokens.input as number,
    output: tokens.output as number,
  };
}
