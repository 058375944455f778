import { Command } from 'commander';
import { packageVersion } from '../../src/engine/files/schema-files.js';
import { adminCommand } from '../admin/command.js';
import { ciCommand } from '../ci/command.js';
import { apiCommands } from '../cli/commands.js';
import { demoCommand } from '../demo/command.js';
import { mcpCommand } from '../mcp/command.js';
import { startCommand } from '../start/command.js';

/** Everything that the package does, in one command; without a word behind it, it starts the server. */
export function spanhouseCommand(): Command {
  const program = new Command('spanhouse')
    .description('LLM traces, prompts and feedback on ClickHouse.')
    .version(packageVersion())
    // Commands have flags such as --version, too.
    .enablePositionalOptions()
    .showHelpAfterError()
    .addCommand(startCommand('start', 'spanhouse start').summary('start the server (the default)'), { isDefault: true })
    .addCommand(adminCommand('admin').summary('manage API keys, projects and users'))
    .addCommand(ciCommand('ci').summary('compare this code with a baseline, as a step of CI'))
    .addCommand(demoCommand('demo').summary('send one hour of demo data to a running server'))
    .addCommand(mcpCommand('mcp').summary('serve tools for agents (MCP) on standard input and output'));
  for (const command of apiCommands()) program.addCommand(command);
  return program;
}
