import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../network/free-port.ts';

const root = join(import.meta.dirname, '../../..');
const prism = join(root, 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');

export type ValidatingProxy = { readonly origin: string; readonly close: () => Promise<void> };

/** A proxy before a server that lets nothing through, in either direction, that is not as the OpenAPI document says. */
export async function validatingProxy(
  upstream: string,
  document = join(root, 'contract', 'openapi', 'openapi.json'),
): Promise<ValidatingProxy> {
  const port = await freePort();
  const child = spawn(process.execPath, [prism, 'proxy', document, upstream, '--errors', '-p', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = output.slice(-10_000) + String(chunk)));
  while (!output.includes('Prism is listening')) {
    if (child.exitCode !== null) throw new Error(output);
    await sleep(50);
  }
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { origin: `http://127.0.0.1:${port}`, close };
}

/** Whether the proxy wrote the answer itself, and what it minded: the request, which was not passed on, or the answer. */
export function mindedByProxy(text: string): 'request' | 'answer' | undefined {
  const [, what] = /"type":"https:\/\/stoplight\.io\/prism\/errors#([A-Z_]+)"/.exec(text) ?? [];
  if (what === undefined) return undefined;
  return what === 'VIOLATIONS' ? 'answer' : 'request';
}
