import { AbortError } from '@mandate/client-sdk';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';

type Input = { readonly chunks: AsyncIterator<Uint8Array | string>; text: string; ended: boolean };

/** Text that has been read from each input stream but not yet returned, because one chunk can contain several lines. */
const inputs = new WeakMap<CliEnvironment['stdin'], Input>();

/** Returns the next line of standard input, or `undefined` at its end. Rejects on Ctrl-C. */
export async function readLine({ stdin, interrupted }: Pick<CliEnvironment, 'stdin' | 'interrupted'>): Promise<string | undefined> {
  const input = inputs.get(stdin) ?? { chunks: stdin[Symbol.asyncIterator](), text: '', ended: false };
  inputs.set(stdin, input);
  while (!input.text.includes('\n') && !input.ended) {
    const chunk = await Promise.race([input.chunks.next(), rejectOnAbort(interrupted)]);
    if (chunk.done) input.ended = true;
    else input.text += typeof chunk.value === 'string' ? chunk.value : Buffer.from(chunk.value).toString();
  }
  if (input.text === '') return undefined;
  const [line = '', ...rest] = input.text.split('\n');
  input.text = rest.join('\n');
  return line.replace(/\r$/, '');
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new AbortError('Interrupted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
