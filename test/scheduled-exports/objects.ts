import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bucket } from '../backup/bucket.js';

const OBJECT = '._S3rver_object';

/** Objects of a scheduled export in the bucket, by their names, in their order. */
export async function objectsOf(bucket: Bucket, projectId: string, id: string): Promise<Map<string, Buffer>> {
  const folder = join(bucket.directory, 'of/tests', projectId, id);
  const files = await readdir(folder).catch(() => []);
  const names = files.filter((name) => name.endsWith(OBJECT)).sort();
  const read = async (name: string) =>
    [`${projectId}/${id}/${name.slice(0, -OBJECT.length)}`, await readFile(join(folder, name))] as const;
  return new Map(await Promise.all(names.map(read)));
}

// Rows are compared with what a test expects; a wrong guess at their shape fails an assertion.
export type Row = Record<string, any>;

export function linesOf(object: Buffer): Row[] {
  return object
    .toString()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
}
