import { sql } from '@mikro-orm/core';
import { type WebhookEndpoint as WebhookEndpointBody, maxWebhookFailingDays } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../../events/record-event.ts';
import { Application } from '../../applications/application.entity.ts';
import { consolePath } from '../../applications/ensure-console-client.ts';
import { readShopBranding } from '../../branding/read-and-write-branding.ts';
import { renderBrandedEmail, type EmailContent } from '../../branding/render-branded-email.ts';
import { bundledLanguages, type Language } from '../../languages/languages.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import { User } from '../../users/user.entity.ts';
import { endpointFromEntity } from './endpoint-and-delivery-from-entity.ts';
import { findIdsOfEndpointsWithInvalidAccess } from './find-endpoints-with-invalid-access.sql.ts';
import { WebhookDelivery, WebhookEndpoint } from './webhook-endpoint-and-delivery.entity.ts';

export type EndpointNoticeDependencies = {
  readonly mailKey: Buffer;
  /** Public URL of the server, which serves the logo and the pages that e-mails link to. */
  readonly issuer: string;
  /** Whether a mail transport is configured. */
  readonly canMail: boolean;
};

type Reason = NonNullable<WebhookEndpointBody['disabled_reason']>;

/**
 * Marks an endpoint's pending deliveries as skipped and records the event, in the transaction that disables the endpoint. Skipped
 * deliveries can be redelivered.
 */
export async function skipDeliveriesAndRecordDisabledEvent(em: EntityManager, endpoint: WebhookEndpointBody): Promise<void> {
  await em.nativeUpdate(WebhookDelivery, { endpoint: endpoint.id, status: 'pending' }, { status: 'skipped', finishedAt: sql.now() });
  await recordEvent(em, 'webhook_endpoint.disabled', endpoint, endpoint.user_id);
}

/** Disables an endpoint. Must run in a transaction. Returns `undefined` if it was already disabled. */
async function disableInTransaction(em: EntityManager, id: number, reason: Reason): Promise<WebhookEndpointBody | undefined> {
  const changes = { status: 'disabled', disabledReason: reason, pausedUntil: null } as const;
  const versionAndTime = { version: sql`version + 1`, updatedAt: sql.now() };
  const updated = await em.nativeUpdate(WebhookEndpoint, { id, status: 'enabled' }, { ...changes, ...versionAndTime });
  if (updated === 0) return undefined;
  const endpoint = endpointFromEntity(await em.findOneOrFail(WebhookEndpoint, { id }, { refresh: true }));
  await skipDeliveriesAndRecordDisabledEvent(em, endpoint);
  return endpoint;
}

const maxRecipients = 20;

/**
 * Returns the users to notify about an endpoint. If an endpoint belongs to an application, there is no user to notify, so administrators
 * are notified.
 */
async function findRecipients(em: EntityManager, { user_id: userId }: WebhookEndpointBody): Promise<User[]> {
  const where = { status: 'active' as const, ...(userId === null ? { role: 'admin' as const } : { id: userId }) };
  return em.find(User, where, { orderBy: { id: 'asc' }, limit: maxRecipients, disableIdentityMap: true });
}

/** Disables an endpoint that no longer accepts deliveries, and notifies its owner by e-mail. */
export async function disableEndpointAndNotify(
  em: EntityManager,
  { mailKey, issuer, canMail }: EndpointNoticeDependencies,
  id: number,
  reason: Reason,
  now: Date,
): Promise<void> {
  await em.transactional(async (inner) => {
    const endpoint = await disableInTransaction(inner, id, reason);
    if (!endpoint || !canMail) return;
    const shop = await readShopBranding(inner);
    for (const user of await findRecipients(inner, endpoint)) {
      const language = bundledLanguages.match(user.locale ?? '') ?? bundledLanguages.default;
      const { path, label } = await selectPage(inner, endpoint, user);
      const { buttons, linkHint: hint } = language.messages.mail;
      const action = { url: issuer + path, label: buttons[label], hint };
      const notice = { ...createNotice(endpoint, reason, language), action };
      await queueMail(inner, mailKey, renderBrandedEmail(user.email, shop, issuer, notice), now);
    }
  });
}

/**
 * Disables endpoints whose grant or API key is no longer valid, so that their owners can see that these endpoints no longer receive events.
 * Returns the number of disabled endpoints.
 */
export async function disableEndpointsWithInvalidAccess(em: EntityManager): Promise<number> {
  const found = await findIdsOfEndpointsWithInvalidAccess(em);
  for (const id of found) await em.transactional((inner) => disableInTransaction(inner, id, 'grant_revoked'));
  return found.length;
}

/**
 * Returns the path of the page that the e-mail links to, and the label of the link. For customers, who cannot use the console, the page is
 * the account page. For other users, the page is the console page of the endpoint or, if the endpoint belongs to an application, of that
 * application.
 */
async function selectPage(em: EntityManager, { id, user_id: userId, client_id: clientId }: WebhookEndpointBody, { role }: User) {
  if (role === 'customer') return { path: '/account', label: 'checkAccount' } as const;
  if (userId !== null) return { path: `${consolePath}/developers/webhooks/${id}`, label: 'viewEndpoint' } as const;
  const application = await em.findOneOrFail(Application, { clientId }, { fields: ['id'], disableIdentityMap: true });
  return { path: `${consolePath}/applications/${application.id}`, label: 'viewApplication' } as const;
}

function createNotice({ id, url }: WebhookEndpointBody, reason: Reason, { messages: { mail, language } }: Language): EmailContent {
  const { host } = new URL(url);
  return {
    language: language.tag,
    direction: language.direction === 'rtl' ? 'rtl' : 'ltr',
    subject: mail.webhookDisabledSubject({ host }),
    paragraphs: [
      mail.webhookDisabled({ id: String(id), host }),
      reason === 'gone' ? mail.webhookGone : mail.webhookFailing({ days: maxWebhookFailingDays }),
      mail.webhookStored,
    ],
  };
}
