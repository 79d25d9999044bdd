import type { Command } from 'commander';
import type { Io } from '../environment.ts';
import { globalFlagsOf, leafCommand } from '../command-helpers.ts';
import { openSession } from '../sign-in/session.ts';
import { settingsOf } from '../settings/settings.ts';

const howTo = `
It speaks the Model Context Protocol on standard input and output, as whoever is signed in. In the settings of an assistant:
  { "mcpServers": { "mandate": { "command": "mandate", "args": ["mcp"] } } }
An assistant elsewhere uses the address of the service, and signs in by itself: <service>/mcp`;

export function addMcp(program: Command, io: Io): void {
  const command = leafCommand(program, 'mcp', 'Be the tools of an assistant')
    .description('Give the operations of the API to an assistant as tools. It can read; --allow-writes lets it change things, too.')
    .option('--allow-writes', 'also what places, changes and deletes')
    .addHelpText('after', howTo)
    .action(async () => {
      const { client } = await openSession(io, settingsOf(globalFlagsOf(command), io));
      const { serveTools } = await import('../mcp/serve.ts');
      await serveTools(io, client, command.opts<{ allowWrites?: boolean }>().allowWrites ?? false);
    });
}
