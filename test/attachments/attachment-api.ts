import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { bootServer, type BootOptions, type TestServer } from '../harness/server.js';

interface Listed {
  readonly type: string;
  readonly url: string;
  readonly label: string | null;
}

/** What tests ask of a server about attachments. */
export class AttachmentApi {
  server: TestServer;

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async boot(): Promise<AttachmentApi> {
    return new AttachmentApi(await bootServer());
  }

  /** The same data under other settings. */
  async restart(env: BootOptions['env']): Promise<void> {
    await this.server.stop();
    this.server = await bootServer({ dataDir: this.server.dataDir, ...(env && { env }) });
  }

  dispose(): Promise<void> {
    return this.server.dispose();
  }

  /** Posts a span of its own with these parts. @returns its id */
  async post(parts: object): Promise<string> {
    const span = spanWith(parts);
    const answer = await this.server.request('POST', '/spans', { body: [span] });
    expect(answer.status, answer.text).to.equal(200);
    return span.id;
  }

  async list(id: string): Promise<Listed[]> {
    const answer = await this.server.request('GET', `/spans/${id}/attachments`);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json.count).to.equal(answer.json.attachments.length);
    return answer.json.attachments;
  }

  /** Paths of the images that are stored. */
  files(): Promise<string[]> {
    return storedFiles(this.server.dataDir);
  }

  anotherProject(): MadeProject {
    return makeProject(this.server.dataDir);
  }
}

export function spanWith(parts: object) {
  return { id: randomUUID(), trace_id: randomUUID(), name: 's', started_at: Date.now(), ...parts };
}

export async function download(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  expect(answer.status).to.equal(200);
  return Buffer.from(await answer.arrayBuffer());
}

export async function storedFiles(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'attachments'), { recursive: true });
  return names.filter((name) => /[0-9a-f]{64}$/.test(name));
}
