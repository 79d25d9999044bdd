import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export type Target = { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly skipVerify: boolean };
export type Forwarded = { readonly status: number | null; readonly error: string | null; readonly milliseconds: number };

const totalMs = 15_000;

/** Sends an event on. What goes wrong is told and not tried again: whoever develops a receiver wants to see it. */
export function forward(
  { url, skipVerify }: Target,
  headers: Readonly<Record<string, string>>,
  body: string,
  interrupted: AbortSignal,
): Promise<Forwarded> {
  const begun = performance.now();
  const milliseconds = (): number => Math.round(performance.now() - begun);
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(totalMs)]);
  const options = {
    method: 'POST',
    agent: false,
    signal,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  };
  return new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ status: null, error: reasonOf(error), milliseconds: milliseconds() });
    const request =
      url.protocol === 'https:' ? requestHttps(url, { ...options, rejectUnauthorized: !skipVerify }) : requestHttp(url, options);
    request.on('error', failed);
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      response.on('error', failed);
      response.on('end', () => resolve({ status, error: null, milliseconds: milliseconds() }));
      response.resume();
    });
    request.end(body);
  });
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${totalMs / 1000} s`;
  const code = 'code' in error ? String(error.code) : '';
  return code === 'ECONNREFUSED' ? 'refused' : code || error.message;
}
