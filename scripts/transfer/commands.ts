import { Command } from 'commander';
import { loadConfig, localUrl } from '../../src/config/config.js';
import { KEY_VARIABLE, keyOption, urlOption } from '../client-options.js';
import { jsonOf, printFailure, tableOf } from '../output.js';
import { startProgress } from '../progress.js';
import { exportProject } from './export.js';
import { importProject, type ImportResult } from './import.js';
import { Remote } from './remote.js';
import { TransferError } from './transfer-error.js';

interface Options {
  readonly url?: string;
  readonly key?: string;
  readonly project?: string;
  readonly json?: boolean;
}

/** `export` and `import`: they go by the API of a running server, here or elsewhere. */
export function transferCommands(): Command[] {
  const exporting = new Command('export')
    .description('export a project to a file, for example to move it to another installation')
    .argument('<project-id>', 'id of the project (see list-projects)')
    .argument('<file>', 'the file to write, such as project.ndjson.gz; compressed if its name ends in .gz')
    .action((project: string, file: string, _options: Options, command: Command) =>
      run(command, async (remote, json) => {
        const end = await exportProject(remote, project, file, startProgress);
        if (json) {
          process.stdout.write(jsonOf(end));
          return;
        }
        process.stdout.write(tableOf(Object.entries(end.counts).map(([part, records]) => ({ part, records }))));
        if (end.figures === null)
          process.stdout.write('Clients kept writing spans during the export: the import will not compare figures.\n');
      }),
    );
  const importing = new Command('import')
    .description('import a file that `export` wrote into a project; existing records are not changed')
    .argument('<file>', 'the file')
    .option('--project <id>', 'expected project, as a safeguard: it must be the project of the key')
    .action((file: string, { project }: Options, command: Command) =>
      run(command, async (remote, json) => {
        const result = await importProject(remote, project, file, startProgress);
        if (json) process.stdout.write(jsonOf(result));
        else show(result);
        if (result.figures?.some(({ same }) => !same) === true) process.exitCode = 1;
      }),
    );
  return [exporting, importing].map(withServer);
}

function withServer(command: Command): Command {
  return command.addOption(urlOption()).addOption(keyOption('API key of the project'));
}

async function run(command: Command, work: (remote: Remote, json: boolean) => Promise<void>): Promise<void> {
  try {
    const { url, key, json = false } = command.optsWithGlobals<Options>();
    if (key === undefined) throw new TransferError(`Give an API key of the project with --key, or set ${KEY_VARIABLE}`);
    // Files are readable by this user alone.
    process.umask(0o077);
    await work(new Remote(url ?? ownUrl(), key), json);
  } catch (error) {
    printFailure(error);
    process.exitCode = 1;
  }
}

function ownUrl(): string {
  const { http } = loadConfig();
  if (http.port === 0)
    throw new TransferError('PORT is 0, so the address of the server is unknown: name it with --url');
  return localUrl(http);
}

function show({ project, parts, retention, figures }: ImportResult): void {
  process.stdout.write(
    tableOf(parts.map(({ part, inFile, stored, unchanged }) => ({ part, 'in the file': inFile, stored, unchanged }))),
  );
  const { inFile, inProject } = retention;
  if (inFile !== null && inFile !== inProject)
    process.stdout.write(
      `The exported project keeps its traces for ${inFile} days, this one ${inProject === null ? 'for ever' : `for ${inProject}`}. ` +
        `To set it here, too: npm run admin -- retention --project ${project} --days ${inFile} --set\n`,
    );
  if (figures === null) {
    process.stdout.write('The file has no figures: clients kept writing spans during the export.\n');
    return;
  }
  const different = figures.filter(({ same }) => !same);
  if (different.length === 0) {
    process.stdout.write(`All ${figures.length} figures of the lists match the file.\n`);
    return;
  }
  const rows = different.map(({ figure, file, project }) => ({
    figure,
    'in the file': file,
    'in the project': project,
  }));
  process.stdout.write(
    `${tableOf(rows)}These figures differ. This is expected if the project contained other spans before, or if some were deleted during the export.\n`,
  );
}
