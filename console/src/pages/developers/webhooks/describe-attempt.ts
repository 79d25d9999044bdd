import type { WebhookDelivery } from '@mandate/client-sdk';
import type { DevelopersTranslate } from '../use-developers-messages.ts';

/** Describes the response to an attempt: its status code, or why there was none. */
export function describeAttempt(attempt: WebhookDelivery['attempts'][number] | undefined, t: DevelopersTranslate): string {
  if (!attempt) return '–';
  return attempt.status_code === null ? t.value('attemptError', attempt.error ?? '–') : String(attempt.status_code);
}
