import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema } from '../../schema/ids.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { maxStoredWebhookResponseBytes, maxWebhookAttempts, webhookDeliveryStatuses } from './webhook-limits-states-and-problems.ts';

const attemptFields = {
  at: timestampSchema,
  milliseconds: z.number().int().min(0).describe('Duration of the attempt in milliseconds.'),
  status_code: z.number().int().nullable().describe('HTTP status of the response; `null` if there was no response.'),
  error: z
    .string()
    .nullable()
    .describe('Why the attempt failed: `timeout`, `connection_failed`, `address_not_allowed` or `status_code`. More values may be added.'),
};

const deliveryFields = {
  id: idSchema,
  event_id: idSchema,
  event_type: z.string(),
  status: z
    .enum(webhookDeliveryStatuses)
    .describe('`failed`: all attempts have failed. `skipped`: the endpoint was disabled or had lost access to the event.'),
  next_attempt_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
};

const attemptsDescription = 'The most recent attempts, oldest first.';

export const webhookDeliverySchema = withSchemaName(
  'WebhookDelivery',
  z.object({
    ...deliveryFields,
    attempts: z
      .array(withSchemaName('WebhookAttempt', z.object(attemptFields)))
      .max(maxWebhookAttempts)
      .describe(attemptsDescription),
  }),
);

const headersSchema = z.record(z.string());

const sentRequestSchema = withSchemaName(
  'WebhookRequestSent',
  z.object({
    url: z.string().describe('URL to which the request was sent, without its query, which can contain credentials.'),
    headers: headersSchema.describe(
      'Headers of the request, including the signature. The body is the event, as returned by `GET /events/{event_id}`.',
    ),
  }),
);

const receivedResponseSchema = withSchemaName(
  'WebhookResponseReceived',
  z.object({
    headers: headersSchema.describe(
      'Headers that help to identify the cause of a failure, such as `content-type` and `location`. No cookies are stored.',
    ),
    body: z
      .string()
      .nullable()
      .describe(
        `Start of the body: at most ${maxStoredWebhookResponseBytes} bytes, without control characters. \`null\` if the body is not UTF-8 text.`,
      ),
    body_truncated: z.boolean().describe('Whether the body is longer than the stored part.'),
  }),
);

/** A request, and the response to it. */
export const webhookRequestAndResponseSchema = z.object({
  request: sentRequestSchema.nullable().describe('`null` for attempts by an older server version that did not store requests.'),
  response: receivedResponseSchema.nullable().describe('`null` if there was no response.'),
});

export const webhookDeliveryDetailsSchema = withSchemaName(
  'WebhookDeliveryDetails',
  z.object({
    ...deliveryFields,
    attempts: z
      .array(withSchemaName('WebhookAttemptDetails', z.object({ ...attemptFields, ...webhookRequestAndResponseSchema.shape })))
      .max(maxWebhookAttempts)
      .describe(attemptsDescription),
  }),
);

export type WebhookDelivery = z.output<typeof webhookDeliverySchema>;
export type WebhookDeliveryStatus = WebhookDelivery['status'];
export type WebhookDeliveryDetails = z.output<typeof webhookDeliveryDetailsSchema>;
/** A request to an endpoint, and the response to it, as stored with an attempt. */
export type WebhookExchange = z.output<typeof webhookRequestAndResponseSchema>;
