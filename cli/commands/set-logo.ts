import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import type { UploadOptions } from '@mandate/client-sdk';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
} from '../contract-commands/build-request-and-convert-api-errors.ts';
import { snakeToKebabCase } from '../contract-commands/flags-from-command-spec.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';
import type { CommandSpec } from '../schema/command-spec-type.ts';
import { openProfileSession, assertSignedInWithScopes } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';
import { getCommandGroupOrThrow, readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';

const mediaTypes: ReadonlyMap<string, UploadOptions['contentType']> = new Map([
  ['.png', 'image/png'] as const,
  ['.jpg', 'image/jpeg'] as const,
  ['.jpeg', 'image/jpeg'] as const,
  ['.webp', 'image/webp'] as const,
]);

/** Adds a command that uploads a logo. The command's arguments are the path parameters of the operation, followed by the file. */
export function addSetLogoCommand(
  program: Command,
  io: CliEnvironment,
  operationId: 'branding.setLogo' | 'identityProviders.setLogo',
): void {
  const spec = getCommandSpecForOperation(operationId);
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, spec.group), spec.name, spec.summary).description(
    `${spec.summary}.\n${spec.description ?? ''}`,
  );
  for (const { name, schema } of spec.pathParameters) command.argument(`<${snakeToKebabCase(name)}>`, schema.description);
  command
    .argument('<file>', 'PNG, JPEG or WebP image')
    .addHelpText('after', `\nRequires the scope ${spec.scopes.join(' or ')}.`)
    .action(async () => setLogo(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), spec, command.args));
}

/** `words` are the values of the path parameters, followed by the path of the file. */
async function setLogo(io: CliEnvironment, settings: Settings, spec: CommandSpec, words: readonly string[]): Promise<void> {
  const path = words.at(-1) ?? '';
  const request = validateInputAndBuildRequest({ spec, path: words.slice(0, -1), typed: new Map() });
  assertRequestedFieldsKnown(settings, spec.fields);
  const contentType = mediaTypes.get(extname(path).toLowerCase());
  if (contentType === undefined)
    throw new CommandError(exitCodes.usage, 'usage', `${path} must be a .png, .jpg, .jpeg or .webp file. Convert the image first`);
  const file = await readFile(path).catch((cause: unknown) => {
    throw new CommandError(exitCodes.usage, 'usage', `Cannot read ${path}`, { cause });
  });
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, spec.scopes);
  try {
    const options = { signal: io.interrupted, contentType };
    printResult(io, settings, await session.client.request({ ...request, file, operation: spec.operationId }, options));
  } catch (error) {
    throw commandErrorFromCallError(error, spec, undefined);
  }
}
