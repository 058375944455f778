import { Command } from 'commander';
import { configurationHelp } from '../../src/config/documentation.js';

/**
 * Starts the server.
 * @param name the command's own
 * @param calledAs everything that a person types to call it
 */
export function startCommand(name: string, calledAs = name): Command {
  return new Command(name)
    .description('Starts Spanhouse. It takes no arguments; configure it with environment variables.')
    .addHelpText('after', () => environmentHelp(calledAs.replace(/ --$/, '')))
    .showHelpAfterError(`Configure Spanhouse with environment variables: see \`${calledAs} --help\`.`)
    .allowExcessArguments()
    .action(async (_options: unknown, command: Command) => {
      const [unknown] = command.args;
      if (unknown !== undefined) command.error(`error: unknown argument '${unknown}'`);
      await import('../../src/main.js');
    });
}

function environmentHelp(start: string): string {
  return `
Environment variables:

${configurationHelp()}

Example: PORT=5000 DATA_DIR=/var/lib/spanhouse ${start}`;
}
