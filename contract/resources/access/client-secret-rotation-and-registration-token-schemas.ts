import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { secretShownOnceSchema } from '../../schema/secret-shown-once.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const rotatedSecret = secretShownOnceSchema(
  'The new client secret.',
  'If the first response was lost, rotate the secret again with a new `Idempotency-Key`.',
);
/** The response to a rotation of the client secret. */
export const secretRotation = withSchemaName(
  'SecretRotation',
  z.object({ client_secret: rotatedSecret, previous_secret_expires_at: timestampSchema }),
);
const initialAccessToken = secretShownOnceSchema(
  'The registration token.',
  'If the first response was lost, create another token with a new `Idempotency-Key`.',
);
/** A new token for dynamic client registration. */
export const newRegistrationToken = withSchemaName(
  'RegistrationToken',
  z.object({ initial_access_token: initialAccessToken, expires_at: timestampSchema }),
);
