import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ESLint } from 'eslint';

const root = fileURLToPath(new URL('../../../', import.meta.url));
// Syntax is enough for these rules; types would need files that exist.
const eslint = new ESLint({
  cwd: root,
  overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions: { projectService: false } } },
  ruleFilter: ({ ruleId }) => ruleId.startsWith('boundaries/') || ruleId.startsWith('no-restricted-'),
});

async function complaints(filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath: `${root}${filePath}` });
  return (result?.messages ?? []).map(({ message }) => message);
}

describe('layer rule', () => {
  const forbidden: [file: string, code: string, reason: RegExp][] = [
    [
      'src/domain/span/a.ts',
      `import '../../storage/clickhouse/x.js';`,
      /domain must not import.*src\/compose pass it in/,
    ],
    ['src/domain/span/a.ts', `import type { A } from '../../transport/http/x.js';`, /domain must not import/],
    ['src/domain/span/a.ts', `export { a } from '../../storage/clickhouse/x.js';`, /domain must not import/],
    ['src/domain/span/a.ts', `await import('../../storage/clickhouse/x.js');`, /domain must not import/],
    ['src/domain/span/a.ts', `import '../../server.js';`, /domain must not import/],
    ['src/domain/span/a.ts', `import '../../compose/x.js';`, /domain must not import/],
    ['src/storage/sqlite/a.ts', `import type { A } from '../../compose/x.js';`, /handed in by src\/compose/],
    ['src/transport/http/a.ts', `import '../../compose/x.js';`, /handed in by src\/compose/],
    ['src/ui/review/a.ts', `import '../../compose/x.js';`, /ui must not import/],
    ['src/llm/a.ts', `import '../compose/x.js';`, /handed in by src\/compose/],
    ['src/domain/span/a.ts', `import '../../config/config.js';`, /domain must not import/],
    ['src/domain/span/a.ts', `import '@clickhouse/client';`, /Only storage talks to a store/],
    ['src/domain/span/a.ts', `import 'express';`, /Only transport speaks HTTP/],
    ['src/storage/sqlite/a.ts', `import '../../transport/http/x.js';`, /A store serves the domain/],
    ['src/storage/sqlite/a.ts', `import { loadConfig } from '../../config/config.js';`, /handed in by src\/compose/],
    ['src/transport/http/a.ts', `import '../../storage/sqlite/x.js';`, /SQL never reaches it/],
    ['src/transport/http/a.ts', `import 'better-sqlite3';`, /Only storage talks to a store/],
    ['src/domain/span/a.ts', `import 'openai';`, /Only llm talks to language models/],
    ['src/llm/a.ts', `import '../storage/sqlite/x.js';`, /through its port/],
    ['src/config/a.ts', `import '../domain/errors.js';`, /depends on nothing/],
    ['src/observability/a.ts', `import '../storage/sqlite/x.js';`, /they may depend on none/],
    ['src/domain/a.ts', `import '../../bench/results.js';`, /domain must not import/],
    ['src/observability/a.ts', `logger.warn('Broken');`, /Declare the line/],
    ['src/storage/a.ts', `this.#options.log.error('Broken');`, /Declare the line/],
    ['src/compose/a.ts', `export const home = process.env['HOME'];`, /Only src\/config reads the environment/],
    ['src/storage/a.ts', `export const home = process.env['HOME'];`, /Only src\/config reads the environment/],
    ['src/storage/a.ts', `import { env } from 'node:process'; export const home = env['HOME'];`, /Only src\/config/],
  ];
  for (const [file, code, reason] of forbidden) {
    it(`refuses in ${file}: ${code}`, async () => {
      const found = await complaints(file, code);
      expect(found).to.have.lengthOf(1);
      expect(found[0]).to.match(reason);
    });
  }

  const allowed: [file: string, code: string][] = [
    ['src/transport/http/a.ts', `import '../../domain/errors.js';`],
    [
      'src/storage/sqlite/a.ts',
      `import '../../domain/errors.js'; import 'better-sqlite3'; import '../clickhouse/x.js';`,
    ],
    ['src/storage/sqlite/a.ts', `import type { Logger } from '../../observability/logger.js'; export type { Logger };`],
    ['src/server.ts', `import './storage/sqlite/x.js'; import './transport/http/x.js'; import './config/config.js';`],
    [
      'src/compose/a.ts',
      `import '../storage/sqlite/x.js'; import '../llm/x.js'; import '../transport/http/x.js'; import '../ui/x.js'; import './b.js';`,
    ],
    ['src/domain/a.ts', `import './span/b.js'; import { createHash } from 'node:crypto'; import '@sinclair/typebox';`],
    ['src/config/a.ts', `export const home = process.env['HOME'];`],
  ];
  for (const [file, code] of allowed) {
    it(`takes in ${file}: ${code}`, async () => {
      expect(await complaints(file, code)).to.deep.equal([]);
    });
  }

  it('knows every folder of src', async () => {
    expect(await complaints('src/utils/a.ts', `export const a = 1;`)).to.have.lengthOf(1);
  });

  for (const base of ['src/domain', 'src/storage'])
    it(`leaves no folders of ${base} that import each other, not even by way of others`, () => {
      const imports = folderImports(`${root}${base}/`);
      const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
        [...(imports.get(from) ?? [])].some(
          (next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))),
        );
      expect([...imports.keys()].filter((folder) => reaches(folder, folder))).to.deep.equal([]);
    });

  it('leaves raw connections to SQLite inside its folder: all others go through openMetadataStore', () => {
    const users = ['src', 'scripts'].flatMap((base) =>
      [...importsBelow(`${root}${base}/`)]
        .filter(([, imported]) => join(base, imported) === 'src/storage/sqlite/database.js')
        .map(([file]) => dirname(join(base, file))),
    );
    expect([...new Set(users)]).to.deep.equal(['src/storage/sqlite']);
  });
});

/** Which folders the files of each folder import. */
function folderImports(base: string): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const [file, imported] of importsBelow(base)) {
    const [from, to] = [dirname(file), dirname(imported)];
    if (from !== to) imports.set(from, (imports.get(from) ?? new Set()).add(to));
  }
  return imports;
}

/** Each file and what it imports of this repository, by paths from the base. */
function* importsBelow(base: string): Generator<[file: string, imported: string]> {
  for (const file of readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')))
    for (const [, path = ''] of readFileSync(base + file, 'utf8').matchAll(/from '(\.[^']+)'/g))
      yield [file, normalize(join(dirname(file), path))];
}
