/**
 * Types and lint of everything, for `npm test`. The typed rules of lint ask the same programs that types are checked in:
 * by themselves they would read and infer all of it a second time.
 */
import { ESLint } from 'eslint';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './source-files.mjs';

const APP = 'src/console/app';
const [main, app] = [programOf('tsconfig.json'), programOf(`${APP}/tsconfig.json`)];
const wrong = [main, app].flatMap((program) => ts.getPreEmitDiagnostics(program));
if (wrong.length > 0) console.log(ts.formatDiagnostics(wrong, formatHost()));

const eslint = new ESLint({
  cwd: root,
  overrideConfig: [typedBy(main, ['**/*.ts', '**/*.tsx']), typedBy(app, [`${APP}/**/*.ts`, `${APP}/**/*.tsx`])],
});
const formatter = await eslint.loadFormatter('stylish');
// Warnings, too: there are none that may stay.
const linted = await formatter.format(await eslint.lintFiles('.'));
if (linted !== '') console.log(linted);
process.exitCode = wrong.length > 0 || linted !== '' ? 1 : 0;

/** As `tsc -p` makes it, with what lint needs: each node knows the one around it. */
function programOf(config) {
  const path = join(root, config);
  const { config: json, error } = ts.readConfigFile(path, ts.sys.readFile);
  if (error !== undefined) throw new Error(ts.formatDiagnostics([error], formatHost()));
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(json, ts.sys, join(path, '..'), undefined, path);
  return ts.createProgram({
    rootNames: fileNames,
    options: { ...options, incremental: false, tsBuildInfoFile: undefined },
    host: ts.createCompilerHost(options, true),
    configFileParsingDiagnostics: errors,
  });
}

function typedBy(program, files) {
  return { files, languageOptions: { parserOptions: { projectService: false, programs: [program] } } };
}

function formatHost() {
  return {
    getCanonicalFileName: (name) => relative(root, name),
    getCurrentDirectory: () => root,
    getNewLine: () => '\n',
  };
}
