import type { Middleware } from '@mandate/client-sdk';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** Returns middleware that prints a notice on a terminal when a request is retried. */
export const createRetryNoticeMiddleware =
  ({ stderr }: CliEnvironment, { quiet, format }: Settings): Middleware =>
  async (request, next) => {
    if (request.attempt > 0 && stderr.isTTY && !quiet && format === 'text') stderr.write(`Retrying (attempt ${request.attempt + 1}) ...\n`);
    return next(request);
  };
