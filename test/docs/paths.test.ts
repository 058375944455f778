import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/engine/files/schema-files.js';

const root = packageRoot();
const DOCUMENTS = [
  'README.md',
  '.github/CONTRIBUTING.md',
  'src/README.md',
  'src/engine/traces/README.md',
  'src/engine/metadata/README.md',
];

/** Files and folders that a document names in code: with a folder, or with the ending of a file of ours. */
const PATH = /`((?:[a-z.][\w.-]*\/)+[\w.-]*|[\w-]+(?:\.test)?\.(?:ts|mjs|sql|xml|md|json|yml))`/g;

/** Not of this repository, or a pattern. */
const ELSEWHERE = ['./data', 'config.d/', 'NNNN_name.sql'];

/** Folders of which a document names files alone, having named the folder just before. */
const NAMED_BEFORE = ['engine/traces', 'otlp', 'features/calibration'];

describe('documents of the repository', () => {
  for (const document of DOCUMENTS) {
    const text = readFileSync(join(root, document), 'utf8');
    const folder = dirname(document);

    it(`${document} names files that exist`, () => {
      const named = [...new Set([...text.matchAll(PATH)].map(([, path = '']) => path))];
      const missing = named.filter(
        (path) => !ELSEWHERE.includes(path) && !placesOf(folder, path).some((place) => existsSync(join(root, place))),
      );
      expect(missing).to.deep.equal([]);
    });

    it(`${document} links to files and headings that exist`, () => {
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
      for (const [link, path = '', heading] of links) {
        const target = join(root, folder, path);
        expect(existsSync(target), link).to.equal(true);
        if (heading !== undefined) expect(headingsOf(readFileSync(target, 'utf8')), link).to.include(heading);
      }
    });
  }
});

/** Where a path may lie: below the folder of its document, or of the repository. */
function placesOf(folder: string, path: string): string[] {
  return [path, join(folder, path), ...NAMED_BEFORE.map((named) => join(folder, named, path))];
}

/** Headings as GitHub makes anchors of them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}
