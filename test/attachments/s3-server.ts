import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';

export const BUCKET = 'spanhouse-test';

export interface S3Server {
  readonly endpoint: string;
  /** Where it keeps its objects. */
  readonly directory: string;
  stop(): Promise<void>;
}

/** A real server that speaks S3, with one bucket; its credentials are put where the AWS SDK looks for them. */
export async function startS3(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-s3-'));
  const configureBuckets = [{ name: BUCKET }];
  const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets });
  const { port } = await server.run();
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = 'S3RVER';
  return {
    endpoint: `http://127.0.0.1:${port}`,
    directory,
    async stop() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
      names.forEach((name, index) => {
        const value = before[index];
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      });
    },
  };
}
