import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { secretShownOnceSchema } from '../../schema/secret-shown-once.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

export const clientSecretSchema = secretShownOnceSchema(
  'The client secret; `null` for public applications, and for applications that authenticate with a key or a certificate.',
  'If the first response was lost and the application has a secret, rotate the secret.',
);

const rotatedSecret = secretShownOnceSchema(
  'The new client secret.',
  'If the first response was lost, rotate the secret again with a new `Idempotency-Key`.',
);
export const rotatedClientSecretSchema = withSchemaName(
  'SecretRotation',
  z.object({ client_secret: rotatedSecret, previous_secret_expires_at: timestampSchema }),
);
const initialAccessToken = secretShownOnceSchema(
  'The registration token.',
  'If the first response was lost, create another token with a new `Idempotency-Key`.',
);
export const registrationTokenSchema = withSchemaName(
  'RegistrationToken',
  z.object({ initial_access_token: initialAccessToken, expires_at: timestampSchema }),
);
