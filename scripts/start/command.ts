import { Command } from 'commander';
import { configurationHelp } from '../../src/config/documentation.js';

/**
 * Starts the server.
 * @param name the command's own
 * @param calledAs everything that a person types to call it
 */
export function startCommand(name: string, calledAs = name): Command {
  return new Command(name)
    .description('Starts Spanhouse. It takes no arguments: environment variables configure it.')
    .addHelpText('after', () => environmentHelp(calledAs.replace(/ --$/, '')))
    .showHelpAfterError(`Spanhouse is configured by environment variables: see \`${calledAs} --help\`.`)
    .allowExcessArguments()
    .action(async (_options: unknown, command: Command) => {
      const [unknown] = command.args;
      if (unknown !== undefined) command.error(`error: '${unknown}' is not known`);
      await import('../../src/main.js');
    });
}

function environmentHelp(start: string): string {
  return `
Environment variables:

${configurationHelp()}

Example: PORT=5000 DATA_DIR=/var/lib/spanhouse ${start}`;
}
