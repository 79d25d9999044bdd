import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

/** Marks a secret in the OpenAPI document: it is `null` in a replay. The value says how to get a working secret then. */
const nullInReplay = 'x-null-in-replay';

/**
 * A secret that the API returns once. The server does not store it, so a replay of the response has `null` instead.
 * The route names the field as `secret` in its metadata.
 * @param recovery how a caller that lost the first response gets a working secret
 */
export const shownOnce = (description: string, recovery: string) =>
  extendApi(
    z
      .string()
      .nullable()
      .describe(`${description} It is in the first response only: a replay (\`Idempotent-Replayed: true\`) has \`null\`. ${recovery}`),
    { [nullInReplay]: recovery },
  );
