import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../network/free-port.ts';

const root = join(import.meta.dirname, '../../..');
const prism = join(root, 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');

export type ValidatingProxy = { readonly origin: string; readonly close: () => Promise<void> };

/** Starts a proxy that rejects requests and responses that do not match the OpenAPI document. */
export async function startValidatingProxy(
  upstream: string,
  document = join(root, 'contract/openapi/openapi.json'),
): Promise<ValidatingProxy> {
  const port = await findFreePort();
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

/** Returns whether the proxy rejected the request or the server's response, or undefined if the proxy forwarded the response. */
export function findProxyRejection(text: string): 'request' | 'response' | undefined {
  const [, violation] = /"type":"https:\/\/stoplight\.io\/prism\/errors#([A-Z_]+)"/.exec(text) ?? [];
  if (violation === undefined) return undefined;
  return violation === 'VIOLATIONS' ? 'response' : 'request';
}
