import { extendApi } from '@anatine/zod-openapi';
import { z } from 'zod';

/**
 * OpenAPI extension for a secret, which is `null` in a replay. The value of the extension explains how to get a valid secret after a
 * replay.
 */
const nullInReplay = 'x-null-in-replay';

/**
 * A secret that the API returns only once. The server does not store the secret, so a replay of the response contains `null` instead.
 * The `secret` property of the route metadata contains the name of the field.
 * @param recovery explains how to get a valid secret if the first response was lost
 */
export const secretShownOnceSchema = (description: string, recovery: string) =>
  extendApi(
    z
      .string()
      .nullable()
      .describe(
        `${description} Only the first response contains the secret, which is \`null\` in a replay (\`Idempotent-Replayed: true\`). ${recovery}`,
      ),
    { [nullInReplay]: recovery },
  );

/** Request body for a secret rotation: how long the previous secret remains usable, in seconds. */
export const secretRotationBodySchema = (maxOverlapSeconds: number, description: string) =>
  z.object({ overlap_seconds: z.number().int().min(0).max(maxOverlapSeconds).optional().describe(description) }).strict();
