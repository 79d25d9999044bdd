import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { readLine } from '../terminal/read-line.ts';
import type { Settings } from '../settings/settings.ts';

/** Goes on only after a yes: from the person at the keyboard, or said in advance by `-y`. */
export async function confirmed(
  io: Io,
  { asks }: Pick<Settings, 'asks'>,
  question: () => string | Promise<string>,
  yes: boolean,
): Promise<void> {
  if (yes) return;
  if (!asks) {
    throw new CommandFailure(exitCodes.usage, 'confirmation_needed', 'Nobody is there to confirm this', {
      hint: 'Say yes in advance with: -y',
    });
  }
  io.stderr.write(`${plainText(await question())} [y/N] `);
  if (!/^y(?:es)?$/i.test(((await readLine(io)) ?? '').trim()))
    throw new CommandFailure(exitCodes.declined, 'declined', 'Nothing was done');
}
