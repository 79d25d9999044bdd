export const webhookProblemTypes = {
  too_many_webhook_endpoints: { status: 409, title: 'Too many webhook endpoints' },
  webhook_endpoint_disabled: { status: 409, title: 'The webhook endpoint is disabled' },
  secret_still_overlaps: { status: 409, title: 'The previous secret is still valid' },
} as const;

/** Maximum number of endpoints per owner. */
export const maxWebhookEndpoints = 20;
/** Maximum time that a rotated signing secret remains valid, in seconds. */
export const maxWebhookSecretOverlapSeconds = 7 * 24 * 60 * 60;
/** Maximum number of attempts per delivery. The last attempt is about 75 hours after the first. */
export const maxWebhookAttempts = 10;
/** Maximum number of bytes of a response body that are stored for each attempt. */
export const maxStoredWebhookResponseBytes = 2048;
/** An endpoint is disabled after this number of days without a successful delivery. */
export const maxWebhookFailingDays = 5;
export const webhookDisabledReasons = ['manual', 'failing', 'gone', 'grant_revoked'] as const;
export const webhookDeliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
