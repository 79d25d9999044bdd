import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { readLine } from '../terminal/read-line.ts';
import type { Settings } from '../settings/settings.ts';

/** Asks the user to confirm, unless `yes` (the `-y` flag) is set. Throws if the user declines or cannot be asked. */
export async function confirmed(
  io: Io,
  { asks: canConfirm }: Settings,
  question: () => string | Promise<string>,
  yes: boolean,
): Promise<void> {
  if (yes) return;
  if (!canConfirm) {
    throw new CommandFailure(exitCodes.usage, 'confirmation_needed', 'This command needs confirmation, and prompts are disabled', {
      hint: 'Say yes in advance with: -y',
    });
  }
  io.stderr.write(`${plainText(await question())} [y/N] `);
  if (!/^y(?:es)?$/i.test(((await readLine(io)) ?? '').trim()))
    throw new CommandFailure(exitCodes.declined, 'declined', 'Canceled; nothing was changed');
}
