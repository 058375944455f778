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

describe('rule of rooms', () => {
  const forbidden: [file: string, code: string, reason: RegExp][] = [
    [
      'src/features/judges/a.ts',
      `import '../../engine/traces/x.js';`,
      /feature must not import.*src\/compose pass it in/,
    ],
    ['src/features/judges/a.ts', `import type { A } from '../../http/x.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `import './http/routes.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `export { a } from './store/x.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `await import('../../engine/metadata/x.js');`, /feature must not import/],
    ['src/features/judges/a.ts', `import '../../server.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `import '../../compose/x.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `import '../../config/config.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `import '../../engine/signals/signals.js';`, /feature must not import/],
    ['src/features/judges/a.ts', `import '@clickhouse/client';`, /Only src\/engine\/traces talks to ClickHouse/],
    ['src/features/judges/a.ts', `import 'better-sqlite3';`, /Only stores talk to SQLite/],
    ['src/features/judges/a.ts', `import 'express';`, /Only src\/http speaks HTTP/],
    ['src/features/judges/a.ts', `import 'openai';`, /Only src\/engine\/models talks to language models/],
    ['src/features/judges/a.ts', `import { Ajv2020 } from 'ajv/dist/2020.js';`, /compiles schemas, and none of a client/],
    ['src/features/judges/a.ts', `import '../../../bench/results.js';`, /feature must not import/],
    ['src/features/judges/store/a.ts', `import '../http/x.js';`, /A store serves the services/],
    ['src/features/judges/store/a.ts', `import '../../../engine/traces/x.js';`, /A store serves the services/],
    ['src/features/judges/store/a.ts', `import type { A } from '../../../compose/x.js';`, /handed in by src\/compose/],
    ['src/features/judges/store/a.ts', `import { loadConfig } from '../../../config/config.js';`, /handed in by/],
    ['src/features/judges/http/a.ts', `import '../store/x.js';`, /SQL never reaches it/],
    ['src/features/judges/http/a.ts', `import 'better-sqlite3';`, /Only stores talk to SQLite/],
    ['src/features/review/pages/a.ts', `import '../store/x.js';`, /SQL never reaches it/],
    ['src/engine/traces/a.ts', `import type { A } from '../../features/judges/x.js';`, /An engine knows no feature/],
    ['src/engine/traces/model/a.ts', `import '../write/x.js';`, /model must not import/],
    ['src/engine/metadata/a.ts', `import '../../features/judges/store/x.js';`, /An engine knows no feature/],
    ['src/engine/work/a.ts', `import '../../features/judges/x.js';`, /An engine knows no feature/],
    ['src/engine/work/a.ts', `import '../metadata/x.js';`, /neither HTTP nor SQL/],
    ['src/engine/a.ts', `import '../http/x.js';`, /neither HTTP nor SQL/],
    ['src/engine/models/a.ts', `import '../metadata/x.js';`, /knows none of them/],
    ['src/engine/signals/a.ts', `import '../metadata/x.js';`, /they may depend on none/],
    ['src/http/a.ts', `import '../features/judges/x.js';`, /knows no feature/],
    ['src/http/a.ts', `import '../compose/x.js';`, /handed in by src\/compose/],
    ['src/otlp/a.ts', `import '../engine/traces/x.js';`, /SQL never reaches it/],
    ['src/mcp/a.ts', `import '../engine/traces/x.js';`, /Its tools are calls of the API/],
    ['src/console/a.ts', `import '../features/judges/store/x.js';`, /never asks a store/],
    ['src/config/a.ts', `import '../engine/errors.js';`, /depends on nothing/],
    ['src/engine/signals/a.ts', `logger.warn('Broken');`, /Declare the line/],
    ['src/features/judges/a.ts', `this.#options.log.error('Broken');`, /Declare the line/],
    ['src/compose/a.ts', `export const home = process.env['HOME'];`, /Only src\/config reads the environment/],
    ['src/engine/a.ts', `export const home = process.env['HOME'];`, /Only src\/config reads the environment/],
    ['src/engine/a.ts', `import { env } from 'node:process'; export const home = env['HOME'];`, /Only src\/config/],
  ];
  for (const [file, code, reason] of forbidden) {
    it(`refuses in ${file}: ${code}`, async () => {
      const found = await complaints(file, code);
      expect(found).to.have.lengthOf(1);
      expect(found[0]).to.match(reason);
    });
  }

  const allowed: [file: string, code: string][] = [
    [
      'src/features/judges/http/a.ts',
      `import '../judge.js'; import '../../../http/route.js'; import '../../prompts/x.js';`,
    ],
    [
      'src/features/judges/store/a.ts',
      `import '../judge.js'; import 'better-sqlite3'; import '../../../engine/metadata/x.js';`,
    ],
    [
      'src/features/judges/store/a.ts',
      `import type { Logger } from '../../../engine/signals/logger.js'; export type { Logger };`,
    ],
    [
      'src/features/judges/a.ts',
      `import './b.js'; import '../../engine/traces/model/x.js'; import '../../engine/errors.js'; import '@sinclair/typebox';`,
    ],
    [
      'src/features/judges/a.ts',
      `import type { Signals } from '../../engine/signals/signals.js'; export type { Signals };`,
    ],
    ['src/engine/traces/a.ts', `import './model/x.js'; import '../work/x.js'; import '@clickhouse/client';`],
    ['src/server.ts', `import './engine/metadata/x.js'; import './http/x.js'; import './config/config.js';`],
    [
      'src/compose/a.ts',
      `import '../../engine/traces/x.js'; import '../../features/judges/store/x.js'; import '../../console/x.js';`,
    ],
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

  it('leaves no files that import each other, not even types, nor by way of others', () => {
    expect(circlesOf(imports())).to.deep.equal([]);
  });

  it('leaves no rooms that import each other, not even by way of others', () => {
    const between = new Map<string, Set<string>>();
    for (const [file, imported] of imports())
      for (const other of imported) {
        const [from, to] = [roomOf(file), roomOf(other)];
        if (from !== to) between.set(from, (between.get(from) ?? new Set()).add(to));
      }
    expect(circlesOf(between)).to.deep.equal([]);
  });

  it('leaves raw connections to SQLite to stores and those who open them', () => {
    const users = [...imports(['src', 'scripts'])]
      .filter(([, imported]) => imported.has('src/engine/metadata/database.ts'))
      .map(([file]) => dirname(file).replace(/^src\/(features|engine)\/[^/]+\/store$/, 'a store'));
    expect([...new Set(users)]).to.have.members(['a store', 'src/compose', 'src/engine/metadata']);
  });
});

/** What each file imports, by paths from the root. */
function imports(folders = ['src']): Map<string, Set<string>> {
  const files = folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .filter((file) => /\.tsx?$/.test(file));
  const known = new Set(files);
  const sourceOf = (path: string) =>
    ['.ts', '.tsx'].map((ending) => path.replace(/\.js$/, ending)).find((file) => known.has(file));
  return new Map(
    files.map((file) => {
      const paths = [...readFileSync(join(root, file), 'utf8').matchAll(/\b(?:from|import)[\s(]+'(\.[^']+)'/g)];
      const named = paths.map(([, path = '']) => sourceOf(normalize(join(dirname(file), path))));
      return [file, new Set(named.filter((other) => other !== undefined))];
    }),
  );
}

/** A feature or an engine, or a folder beside them; what lies in src itself is its own. */
function roomOf(file: string): string {
  const parts = file.split('/');
  return parts
    .slice(0, ['engine', 'features'].includes(parts[1] ?? '') && parts.length > 3 ? 3 : Math.min(2, parts.length))
    .join('/');
}

/** Those that reach themselves. */
function circlesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const reaches = (from: string): boolean => {
    const seen = new Set<string>();
    const ahead = [...(edges.get(from) ?? [])];
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      if (next === from) return true;
      if (!seen.has(next)) ahead.push(...(edges.get(next) ?? []));
      seen.add(next);
    }
    return false;
  };
  return [...edges.keys()].filter(reaches);
}
