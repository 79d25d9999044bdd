import type { Command } from 'commander';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { openProfileSession } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile } from '../settings/resolve-settings.ts';

const setupHelp = `
The server uses standard input and output, and acts as the signed-in user. Add it to the settings of an assistant:
  { "mcpServers": { "mandate": { "command": "mandate", "args": ["mcp"] } } }
Remote assistants connect to the service directly and sign in themselves: <service>/mcp`;

export function addMcpCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'mcp', 'Start an MCP server for an assistant')
    .description(
      'Start a Model Context Protocol server that offers the API operations to an assistant as tools. By default, only read operations are offered; --allow-writes adds operations that make changes.',
    )
    .option('--allow-writes', 'also enable tools that create, change or delete data')
    .addHelpText('after', setupHelp)
    .action(async () => {
      const { client } = await openProfileSession(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io));
      const { serveMcpTools: serveTools } = await import('../mcp/serve-mcp-tools.ts');
      await serveTools(io, client, command.opts<{ allowWrites?: boolean }>().allowWrites ?? false);
    });
}
