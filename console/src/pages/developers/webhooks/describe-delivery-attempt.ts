import type { WebhookDelivery } from '@mandate/client-sdk';
import type { DevelopersTranslate } from '../use-developers-translations.ts';

/** Describes the outcome of an attempt: the status code of the response or, if there was no response, the reason. */
export function describeDeliveryAttempt(attempt: WebhookDelivery['attempts'][number] | undefined, t: DevelopersTranslate): string {
  if (!attempt) return '–';
  return attempt.status_code === null ? t.value('attemptError', attempt.error ?? '–') : String(attempt.status_code);
}
