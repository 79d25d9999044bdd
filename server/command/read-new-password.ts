import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../process/command-error.ts';
import { exitCodes } from '../process/exit-codes.ts';
import type { StandardStreams } from './standard-streams-type.ts';

/**
 * Prompts for a password twice without echo or, if standard input is not a terminal, reads its first line. A password in the command-line
 * arguments would be visible to other users.
 */
export async function readNewPassword({ stdin, stderr }: Pick<StandardStreams, 'stdin' | 'stderr'>): Promise<string> {
  if (!stdin.isTTY) return readFirstLine(stdin);
  const password = await promptHidden(stdin, stderr, 'Password: ');
  if ((await promptHidden(stdin, stderr, 'Once more: ')) === password) return password;
  throw new CommandError('the passwords do not match: no account was created. Run the command again');
}

async function readFirstLine(stdin: StandardStreams['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.split(/\r?\n/)[0] ?? '';
}

const discardOutput = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

async function promptHidden(stdin: StandardStreams['stdin'], stderr: StandardStreams['stderr'], question: string): Promise<string> {
  const aborting = new AbortController();
  // readline echoes the input to its output stream
  const prompt = createInterface({ input: stdin, output: discardOutput(), terminal: true });
  prompt.once('SIGINT', () => aborting.abort());
  prompt.once('close', () => aborting.abort());
  stderr.write(question);
  try {
    return await prompt.question('', { signal: aborting.signal });
  } catch (error) {
    if (!aborting.signal.aborted) throw error;
    throw new CommandError('interrupted: no account was created', exitCodes.interrupted);
  } finally {
    prompt.close();
    stderr.write('\n');
  }
}
