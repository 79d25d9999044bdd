import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export type ForwardTarget = { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly skipVerify: boolean };
export type ForwardResult = { readonly status: number | null; readonly error: string | null; readonly milliseconds: number };

const timeoutMs = 15_000;

/**
 * Makes one attempt to send an event to the target. Returns errors instead of retrying, so that developers see how their receiver fails.
 */
export function forwardEvent(
  { url, skipVerify }: ForwardTarget,
  headers: Readonly<Record<string, string>>,
  body: string,
  interrupted: AbortSignal,
): Promise<ForwardResult> {
  const startedAt = performance.now();
  const milliseconds = (): number => Math.round(performance.now() - startedAt);
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(timeoutMs)]);
  const options = {
    method: 'POST',
    agent: false,
    signal,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  };
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve({ status: null, error: describeError(error), milliseconds: milliseconds() });
    const request =
      url.protocol === 'https:' ? requestHttps(url, { ...options, rejectUnauthorized: !skipVerify }) : requestHttp(url, options);
    request.on('error', fail);
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      response.on('error', fail);
      response.on('end', () => resolve({ status, error: null, milliseconds: milliseconds() }));
      response.resume();
    });
    request.end(body);
  });
}

function describeError(error: Error): string {
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  const code = 'code' in error ? String(error.code) : '';
  return code === 'ECONNREFUSED' ? 'connection refused' : code || error.message;
}
