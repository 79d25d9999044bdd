import type { Middleware } from '@mandate/client-sdk';
import type { Io } from '../environment.ts';
import type { Settings } from '../settings/settings.ts';

/** Tells a person at the terminal that a request takes long because it is sent again. */
export const tellRetries =
  ({ stderr }: Io, { quiet, format }: Settings): Middleware =>
  async (request, next) => {
    if (request.attempt > 0 && stderr.isTTY && !quiet && format === 'text') stderr.write(`Trying again (${request.attempt}) ...\n`);
    return next(request);
  };
