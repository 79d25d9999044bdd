import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { readLine } from '../terminal/read-line.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** Asks the user to confirm, unless `yes` (the `-y` flag) is set. Throws if the user declines or prompts are disabled. */
export async function requireConfirmation(
  io: CliEnvironment,
  { canConfirm }: Settings,
  question: () => string | Promise<string>,
  yes: boolean,
): Promise<void> {
  if (yes) return;
  if (!canConfirm) {
    throw new CommandError(exitCodes.usage, 'confirmation_needed', 'This command requires confirmation, but prompts are disabled', {
      hint: 'Confirm in advance with: -y',
    });
  }
  io.stderr.write(`${sanitizeForTerminal(await question())} [y/N] `);
  if (!/^y(?:es)?$/i.test(((await readLine(io)) ?? '').trim()))
    throw new CommandError(exitCodes.confirmationDeclined, 'declined', 'Canceled; nothing was changed');
}
