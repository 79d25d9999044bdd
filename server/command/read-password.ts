import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFailure } from '../process/command-failure.ts';
import { exitCodes } from '../process/exit-codes.ts';
import type { Io } from './io.ts';

/** Twice from somebody at a terminal, who does not see it; elsewhere the first line of standard input. Never from the command line, which others see. */
export async function readPassword({ stdin, stderr }: Pick<Io, 'stdin' | 'stderr'>): Promise<string> {
  if (!stdin.isTTY) return firstLine(stdin);
  const password = await askUnseen(stdin, stderr, 'Password: ');
  if ((await askUnseen(stdin, stderr, 'Once more: ')) === password) return password;
  throw new CommandFailure('these were two different passwords: nothing was made. Call the command again');
}

async function firstLine(stdin: Io['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.split(/\r?\n/)[0] ?? '';
}

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

async function askUnseen(stdin: Io['stdin'], stderr: Io['stderr'], question: string): Promise<string> {
  const leaving = new AbortController();
  // it echoes what is typed to its output
  const lines = createInterface({ input: stdin, output: nowhere(), terminal: true });
  lines.once('SIGINT', () => leaving.abort());
  lines.once('close', () => leaving.abort());
  stderr.write(question);
  try {
    return await lines.question('', { signal: leaving.signal });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    throw new CommandFailure('interrupted: nothing was made', exitCodes.interrupted);
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
