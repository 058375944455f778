import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Where `scripts/bundle.mjs` puts what it makes of `app`. */
const FOLDER = new URL('../../console/', import.meta.url);

/** The names of what a page of the console loads, and a script that it holds. */
export interface Manifest {
  readonly console: string;
  /** Runs before anything is painted: the text itself. */
  readonly theme: string;
  /** Runs beside the page's thread. */
  readonly worker: string;
  readonly style: string;
  /** Chunks that the console's script needs at once. */
  readonly preload: readonly string[];
}

/** A file of the bundle. */
export interface BundledFile {
  readonly contentType: string;
  readonly gzipped: Buffer;
  /** For whoever takes nothing compressed. */
  readonly plain: Buffer;
}

export interface Bundle {
  readonly manifest: Manifest;
  /** By name. */
  file(name: string): BundledFile | undefined;
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
]);

/** The bundle that was there when the server started: a build meanwhile changes nothing. */
export function readBundle(): Bundle {
  const manifest = JSON.parse(read('manifest.json').toString('utf8')) as Manifest & {
    readonly files: readonly string[];
  };
  const files = new Map(manifest.files.map((name) => [name, bundledFile(name)]));
  return { manifest, file: (name) => files.get(name) };
}

function bundledFile(name: string): BundledFile {
  const contentType = CONTENT_TYPES.get(name.split('.').at(-1) ?? '');
  if (contentType === undefined) throw new Error(`The console bundle has a file of an unknown type: ${name}`);
  const gzipped = read(`${name}.gz`);
  return { contentType, gzipped, plain: gunzipSync(gzipped) };
}

function read(name: string): Buffer {
  return readFileSync(new URL(name, FOLDER));
}
