import { type WebhookEndpoint, maxWebhookFailingDays } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { recordEvent } from '../../events/record-event.ts';
import { html } from '../../http/response/html.ts';
import { queueMail, type Mail } from '../../mail/queue-mail.ts';
import { endpointColumnsSql, type EndpointRow, endpointFromRow } from './endpoint-rows.ts';
import { activeEndpointSql } from './event-visibility-sql.ts';

export type EndpointNoticeDeps = { readonly mailKey: Buffer; /** Whether a mail transport is configured. */ readonly canMail: boolean };

type Reason = NonNullable<WebhookEndpoint['disabled_reason']>;

const disable = prepareStatement<EndpointRow>(
  'disable_webhook_endpoint',
  `update webhook_endpoints e set status = 'disabled', disabled_reason = $2, version = version + 1, updated_at = now(), paused_until = null
    where id = $1 and status = 'enabled' returning ${endpointColumnsSql}`,
);
const skipWaiting = prepareStatement(
  'skip_deliveries_of_endpoint',
  `update webhook_deliveries set status = 'skipped', finished_at = now() where endpoint_id = $1 and status = 'pending'`,
);

/**
 * Skips the pending deliveries of an endpoint and records the event, in the transaction that disables it. Skipped deliveries can be
 * redelivered.
 */
export async function completeEndpointDisabling(em: EntityManager, endpoint: WebhookEndpoint): Promise<void> {
  await skipWaiting(em, [endpoint.id]);
  await recordEvent(em, 'webhook_endpoint.disabled', endpoint, endpoint.user_id);
}

/** Disables an endpoint; requires a transaction. Returns `undefined` if it was already disabled. */
async function disableInTransaction(em: EntityManager, id: number, reason: Reason): Promise<WebhookEndpoint | undefined> {
  const [row] = await disable(em, [id, reason]);
  if (!row) return undefined;
  const endpoint = endpointFromRow(row);
  await completeEndpointDisabling(em, endpoint);
  return endpoint;
}

// An endpoint of an application has no user, so administrators are notified.
const findRecipients = prepareStatement<{ email: string }>(
  'find_readers_of_webhook_notice',
  `select email from users where status = 'active' and case when $1::bigint is null then role = 'admin' else id = $1 end order by id limit 20`,
);

/** Disables an endpoint that no longer accepts deliveries, and notifies its owner by e-mail. */
export async function disableEndpointAndNotify(
  em: EntityManager,
  { mailKey, canMail }: EndpointNoticeDeps,
  id: number,
  reason: Reason,
  now: Date,
): Promise<void> {
  await em.transactional(async (inner) => {
    const endpoint = await disableInTransaction(inner, id, reason);
    if (!endpoint || !canMail) return;
    for (const { email } of await findRecipients(inner, [endpoint.user_id]))
      await queueMail(inner, mailKey, createNotice(email, endpoint, reason), now);
  });
}

const findOrphans = prepareStatement<{ id: number }>(
  'find_orphaned_webhook_endpoints',
  `select e.id from webhook_endpoints e left join applications a on a.id = e.application_id left join users u on u.id = e.user_id
    where e.status = 'enabled' and e.authority in ('grant', 'api_key') and not (${activeEndpointSql}) order by e.id limit 100`,
);

/**
 * Disables endpoints whose grant or API key is no longer valid. They receive no events anyway; this makes it visible. Returns their number.
 */
export async function disableOrphanedEndpoints(em: EntityManager): Promise<number> {
  const found = await findOrphans(em, []);
  for (const { id } of found) await em.transactional((inner) => disableInTransaction(inner, id, 'grant_revoked'));
  return found.length;
}

function createNotice(to: string, { id, url }: WebhookEndpoint, reason: Reason): Mail {
  const host = new URL(url).host;
  const why =
    reason === 'gone' ? 'It responded that it is gone (410).' : `It has not accepted a single delivery for ${maxWebhookFailingDays} days.`;
  const lines = [
    `The webhook endpoint ${id} at ${host} is disabled.`,
    why,
    'New events are stored for 30 days but not sent. Enable the endpoint when it works again, and redeliver the events that it has missed.',
  ];
  return {
    to,
    subject: `The webhook endpoint at ${host} is disabled`,
    text: `${lines.join('\n\n')}\n`,
    html: html`<!doctype html>
      <html lang="en">
        <body>
          ${lines.map((line) => html`<p>${line}</p>`)}
        </body>
      </html>`.toString(),
  };
}
