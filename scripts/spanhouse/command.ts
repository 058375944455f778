import { Command } from 'commander';
import { packageVersion } from '../../src/engine/files/schema-files.js';
import { apiCommands } from '../cli/commands.js';
import { mcpCommand } from '../mcp/command.js';

/**
 * Everything that the package does, in one command; without a word behind it, it starts the server.
 * @param asked the word behind it
 */
export async function spanhouseCommand(asked?: string): Promise<Command> {
  const clients = [
    mcpCommand('mcp').summary('serve tools for agents (MCP) on standard input and output'),
    ...apiCommands(),
  ];
  const program = new Command('spanhouse')
    .description('LLM traces, prompts and feedback on ClickHouse.')
    .version(packageVersion())
    // Commands have flags such as --version, too.
    .enablePositionalOptions()
    .showHelpAfterError();
  // What works on a DATA_DIR takes half a second to load, which who asks a server need not wait for.
  if (!clients.some((command) => command.name() === asked)) await addOwn(program);
  for (const command of clients) program.addCommand(command);
  return program;
}

/** The commands of this machine, and those that send. */
async function addOwn(program: Command): Promise<void> {
  const [{ startCommand }, { adminCommand }, { ciCommand }, { importCommand }, { demoCommand }] = await Promise.all([
    import('../start/command.js'),
    import('../admin/command.js'),
    import('../ci/command.js'),
    import('../import/command.js'),
    import('../demo/command.js'),
  ]);
  program
    .addCommand(startCommand('start', 'spanhouse start').summary('start the server (the default)'), { isDefault: true })
    .addCommand(adminCommand('admin').summary('manage API keys, projects and users'))
    .addCommand(ciCommand('ci').summary('compare this code with a baseline, as a step of CI'))
    .addCommand(importCommand('import').summary('import traces from other systems'))
    .addCommand(demoCommand('demo').summary('send one hour of demo data to a running server'));
}
