import { Command } from 'commander';
import { packageVersion } from '../../src/engine/files/schema-files.js';
import { adminCommand } from '../admin/command.js';
import { ciCommand } from '../ci/command.js';
import { demoCommand } from '../demo/command.js';
import { importCommand } from '../import/command.js';
import { startCommand } from '../start/command.js';

/** Everything that the package does, in one command; without a word behind it, it starts the server. */
export function spanhouseCommand(): Command {
  return new Command('spanhouse')
    .description('LLM traces, prompts and feedback on ClickHouse.')
    .version(packageVersion())
    .showHelpAfterError()
    .addCommand(startCommand('start', 'spanhouse start').summary('start the server (the default)'), { isDefault: true })
    .addCommand(adminCommand('admin').summary('manage API keys, projects and users'))
    .addCommand(ciCommand('ci').summary('compare this code with a baseline, as a step of CI'))
    .addCommand(importCommand('import').summary('import traces from other systems'))
    .addCommand(demoCommand('demo').summary('send one hour of demo data to a running server'));
}
