import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { bootServer, type TestResponse, type TestServer } from '../harness/server.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';

/** A data directory, some folder of which lies on a disk that can be filled, and a server on it. */
export class SmallDiskScene {
  #folder = '';
  #disk: SmallDisk | null = null;
  #server: TestServer | null = null;

  /** One that is new for each test of the suite that this is called in. */
  static forEachTest(): SmallDiskScene {
    const scene = new SmallDiskScene();
    beforeEach(async () => {
      scene.#folder = await mkdtemp(join(tmpdir(), 'spanhouse-small-'));
      await mkdir(scene.dataDir);
    });
    afterEach(() => scene.#clear());
    return scene;
  }

  /** A folder beside the data directory, on the large disk. */
  beside(name: string): string {
    return join(this.#folder, name);
  }

  get dataDir(): string {
    return this.beside('data');
  }

  get server(): TestServer {
    if (this.#server === null) throw new Error('no server');
    return this.#server;
  }

  /** Mounts the disk at a folder of the data directory. Where this user may not, the test is left out. */
  mount(test: Context, megabytes: number, folder = '.'): SmallDisk {
    const disk = mountSmallDisk(join(this.dataDir, folder), megabytes);
    if (disk === null) test.skip();
    this.#disk = disk;
    return disk;
  }

  async boot(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    this.#server = await bootServer({ dataDir: this.dataDir, env });
    return this.#server;
  }

  call(method: string, path: string, body?: unknown): Promise<TestResponse> {
    return this.server.request(method, path, body === undefined ? {} : { body });
  }

  get(path: string): Promise<TestResponse> {
    return this.call('GET', path);
  }

  post(path: string, body: unknown): Promise<TestResponse> {
    return this.call('POST', path, body);
  }

  async #clear(): Promise<void> {
    this.#disk?.free();
    await this.#server?.stop();
    this.#disk?.unmount();
    [this.#server, this.#disk] = [null, null];
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A write that there is no room for: to be sent again later. */
export function expectRefused({ status, text, headers }: TestResponse, reason: string | RegExp = ''): void {
  expect(status, text).to.equal(503);
  expect(Number(headers.get('retry-after'))).to.be.at.least(1);
  expect(text).to.match(new RegExp(reason));
}
