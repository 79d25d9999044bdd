import type { IncomingMessage, ServerResponse } from 'node:http';
import { assertContractResponse } from './assert-contract-response.ts';

/**
 * Validates every API response from a server against the contract, whether it is sent to a browser, a client or a command. Also reports
 * responses that mix languages because the text of their problem detail is missing from the message catalogs.
 */
export function validateServerResponses(req: IncomingMessage, res: ServerResponse, onViolation: (violation: string) => void): void {
  const { method = 'GET', url = '/' } = req;
  // the HTTP server sent this response before the application received the request
  if (!/^\/api(?=[/?]|$)/.test(url) || res.headersSent) return;
  const chunks: Buffer[] = [];
  const capture = (chunk: unknown): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  for (const name of ['write', 'end'] as const) {
    const send = res[name];
    res[name] = (...args: unknown[]) => {
      capture(args[0]);
      return Reflect.apply(send, res, args);
    };
  }
  res.once('finish', () => {
    const headers = new Headers(Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]));
    const body = Buffer.concat(chunks).toString();
    const languages = headers.get('content-language') ?? '';
    if (languages.includes(',')) onViolation(`${method} ${url} has texts in several languages (${languages}): ${body}`);
    try {
      assertContractResponse(method, url, { status: res.statusCode, headers }, body);
    } catch (error) {
      onViolation(error instanceof Error ? error.message : String(error));
    }
  });
}
