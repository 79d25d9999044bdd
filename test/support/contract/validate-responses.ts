import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkAgainstContract } from './contract-check.ts';

/** Holds every answer of the API that leaves a server against the contract, whoever asked: a browser, a client, a command. */
export function watchAnswers(req: IncomingMessage, res: ServerResponse, violated: (violation: string) => void): void {
  const { method = 'GET', url = '/' } = req;
  // a response that has begun already was written in front of the application
  if (!/^\/api(?=[/?]|$)/.test(url) || res.headersSent) return;
  const pieces: Buffer[] = [];
  const keep = (piece: unknown): void => {
    if (typeof piece === 'string' || piece instanceof Uint8Array) pieces.push(Buffer.from(piece));
  };
  for (const name of ['write', 'end'] as const) {
    const send = res[name];
    res[name] = (...args: unknown[]) => {
      keep(args[0]);
      return Reflect.apply(send, res, args);
    };
  }
  res.once('finish', () => {
    const headers = new Headers(Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]));
    try {
      checkAgainstContract(method, url, { status: res.statusCode, headers }, Buffer.concat(pieces).toString());
    } catch (error) {
      violated(error instanceof Error ? error.message : String(error));
    }
  });
}
