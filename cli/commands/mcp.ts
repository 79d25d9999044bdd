import type { Client } from '@mandate/client-sdk';
import type { Command } from 'commander';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { openProfileSession } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile } from '../settings/resolve-settings.ts';

const setupHelp = `
The server uses standard input and output, and acts as the signed-in user. Add it to your assistant's settings:
  { "mcpServers": { "mandate": { "command": "mandate", "args": ["mcp"] } } }
Remote assistants connect to the service directly and sign in themselves: <service>/mcp`;

type McpFlags = { readonly tools?: string; readonly readOnly?: boolean; readonly allowWrites?: boolean };

export function addMcpCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'mcp', 'Start an MCP server for an assistant')
    .description(
      'Start a Model Context Protocol server that offers an assistant the tools that the signed-in user can use. By default, only the read-only shopping tools are offered; --tools selects other tools, and --allow-writes adds tools that make changes.',
    )
    .option('--tools <sets>', 'comma-separated tool sets, such as orders,products, or all (default: shopping tools)')
    .option('--read-only', 'offer only read-only tools (default)')
    .option('--allow-writes', 'also offer tools that create, change or delete data')
    .addHelpText('after', setupHelp)
    .action(async () => {
      const { tools, readOnly = false, allowWrites = false } = command.opts<McpFlags>();
      if (readOnly && allowWrites) throw new CommandError(exitCodes.usage, 'usage', 'Use either --read-only or --allow-writes');
      const session = await openProfileSession(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io));
      const { client, credential, signedIn } = session;
      // If the token comes from MANDATE_TOKEN, its scopes are unknown.
      const scopes = signedIn ? credential?.scopes : [];
      const canRequestApprovals = tools === undefined && allowWrites && signedIn && (await readCanRequestApprovals(client, io.interrupted));
      const { serveMcpOverStdio } = await import('../mcp/serve-mcp-over-stdio.ts');
      await serveMcpOverStdio(
        io,
        { client, userId: credential?.user?.id, scopes },
        { toolSets: tools?.split(','), readOnly: !allowWrites, canRequestApprovals },
      );
    });
}

/**
 * Returns whether orders can require approval. Returns false if the service cannot be reached; the assistant then gets only the default
 * tools, without the tools for approvals.
 */
async function readCanRequestApprovals(client: Client, signal: AbortSignal): Promise<boolean> {
  try {
    const { authorization_details: details } = await client.authorization.get({ signal });
    return details.some(
      ({ limits, products, approval }) =>
        approval === 'always' || (approval === 'above_limit' && (limits !== undefined || products !== undefined)),
    );
  } catch {
    return false;
  }
}
