import { Command } from 'commander';
import type { WhoAmI } from '../../src/features/sign-in/http/schema.js';
import { mayChange } from '../../src/engine/identity/scopes.js';
import { packageVersion } from '../../src/engine/files/schema-files.js';
import { connectionOptions, remoteOf } from '../cli/commands.js';
import { EXIT, fail } from '../cli/failure.js';
import { remoteCaller } from './remote-caller.js';

const HELP = `
Agents start the command themselves. Claude Code, for example, does so after:
  claude mcp add spanhouse --env SPANHOUSE_URL=http://127.0.0.1:4318 --env SPANHOUSE_KEY=<key> -- npx spanhouse mcp
A key with read access is enough, and gets only tools that read. The server itself speaks MCP over HTTP at /mcp.`;

/** Serves the tools of the Model Context Protocol on standard input and output. @param name how the command was called, for its help */
export function mcpCommand(name: string): Command {
  const command = new Command(name)
    .description('Serves tools for agents by the Model Context Protocol (MCP) on standard input and output.')
    .addHelpText('after', HELP)
    .showHelpAfterError()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.done : EXIT.usage));
  for (const option of connectionOptions()) command.addOption(option);
  return command.action(async (options: { readonly url?: string; readonly key?: string }) => {
    try {
      await serve(options);
    } catch (error) {
      fail(error, false);
    }
  });
}

async function serve(options: { readonly url?: string; readonly key?: string }): Promise<void> {
  const remote = await remoteOf(options);
  const { project, key } = await remote.get<WhoAmI>('/whoami');
  // The protocol's library is loaded by whoever needs it.
  const [{ StdioServerTransport }, { mcpServer }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('../../src/mcp/server.js'),
  ]);
  const server = mcpServer({
    caller: remoteCaller(remote.url, options.key ?? ''),
    projectId: project.id,
    mayChange: key === null || mayChange({ scopes: new Set(key.scopes) }),
    version: packageVersion(),
    onFailed: (error) => fail(error, false),
  });
  await server.connect(new StdioServerTransport());
  process.stdin.once('close', () => void server.close());
}
