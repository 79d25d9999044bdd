import { AbortError } from '@mandate/client-sdk';
import type { Io } from '../environment.ts';

type Input = { readonly chunks: AsyncIterator<Uint8Array | string>; text: string; ended: boolean };

/** What was read of an input and not used yet: several lines can come at once. */
const inputs = new WeakMap<Io['stdin'], Input>();

/** The next line of standard input; `undefined` at its end. Ctrl-C ends the wait for it. */
export async function readLine({ stdin, interrupted }: Pick<Io, 'stdin' | 'interrupted'>): Promise<string | undefined> {
  const input = inputs.get(stdin) ?? { chunks: stdin[Symbol.asyncIterator](), text: '', ended: false };
  inputs.set(stdin, input);
  while (!input.text.includes('\n') && !input.ended) {
    const chunk = await Promise.race([input.chunks.next(), rejectedBy(interrupted)]);
    if (chunk.done) input.ended = true;
    else input.text += typeof chunk.value === 'string' ? chunk.value : Buffer.from(chunk.value).toString();
  }
  if (input.text === '') return undefined;
  const [line = '', ...rest] = input.text.split('\n');
  input.text = rest.join('\n');
  return line.replace(/\r$/, '');
}

const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new AbortError('Interrupted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
