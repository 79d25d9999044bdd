import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import type { TestUser } from '../../support/oauth/oauth-flow.ts';

type Program = {
  readonly command: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Sends the callback URL to the program (default: as a line of its standard input). */
  readonly sendCallback?: (callbackUrl: URL) => Promise<unknown>;
};

/**
 * Runs a program that signs a user in. Whenever the program prints an authorization URL, the user allows the request, and the program
 * receives the callback URL. Returns the last line of the output.
 */
export async function signInWithProgram(
  user: Pick<TestUser, 'browser'>,
  { command, argv, cwd, env, sendCallback }: Program,
): Promise<string> {
  // oxlint-disable-next-line node/no-process-env -- the program needs the caller's PATH
  const child = spawn(command, argv, { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const output: string[] = [];
  let lastLine = '';
  const handleLine = async (line: string): Promise<void> => {
    output.push(line);
    const [authorizationUrl] = /http:\/\/\S+\/oauth\/authorize\S+/.exec(line) ?? [];
    if (authorizationUrl === undefined) return;
    const callbackUrl = await completeAuthorization(user, authorizationUrl);
    if (sendCallback) await sendCallback(callbackUrl);
    else child.stdin.write(`${callbackUrl.href}\n`);
  };
  const readLines = async (stream: NodeJS.ReadableStream, isResult: boolean): Promise<void> => {
    for await (const line of createInterface(stream)) {
      if (isResult && line !== '') lastLine = line;
      await handleLine(line);
    }
  };
  const [[code]] = await Promise.all([once(child, 'exit'), readLines(child.stdout, true), readLines(child.stderr, false)]);
  if (code !== 0) throw new Error(`${command} exited with ${code}:\n${output.join('\n')}`);
  return lastLine;
}
