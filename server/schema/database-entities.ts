// Every database entity. The entities are listed explicitly, so that MikroORM does not have to discover them at start-up.
export { ApiKey } from '../api-keys/api-key.entity.ts';
export { Application } from '../applications/application.entity.ts';
export { Approval, AmountRequiringSecondFactor } from '../approvals/approval-and-second-factor-amount.entity.ts';
export { AuditEvent } from '../audit/audit-event.entity.ts';
export { BackupFile } from '../backup-files/backup-file.entity.ts';
export { BrandingEntity } from '../branding/branding.entity.ts';
export { DeliveryMethod } from '../delivery-methods/delivery-method.entity.ts';
export { Event, EventSequenceCounter } from '../events/event-and-sequence-counter.entity.ts';
export { IdempotencyKey } from '../http/writes/idempotency-key.entity.ts';
export { IdentityProviderEntity } from '../identity-providers/identity-provider.entity.ts';
export { QueuedMail } from '../mail/queued-mail.entity.ts';
export { EmailedOneTimeLink } from '../oauth/accounts/emailed-one-time-link.entity.ts';
export { LogoutNotification } from '../oauth/back-channel-logout/logout-notification.entity.ts';
export { AttemptCounter } from '../oauth/brute-force/attempt-counter.entity.ts';
export { ConnectedAppEntity } from '../oauth/grants/connected-app.entity.ts';
export { UserConsent } from '../oauth/grants/consent.entity.ts';
export { LinkedAccount } from '../oauth/linked-accounts/linked-account.entity.ts';
export { StoredPasswordHash } from '../oauth/passwords/stored-password-hash.entity.ts';
export {
  AuthenticatorApp,
  UsedSingleUseIdentifier,
  Passkey,
  RecoveryCode,
} from '../oauth/second-factors/second-factors-and-used-identifiers.entity.ts';
export { BrowserSession } from '../oauth/sessions/browser-session.entity.ts';
export { SigningKey } from '../oauth/signing-keys/signing-key.entity.ts';
export { OauthRecord } from '../oauth/storage/oauth-record.entity.ts';
export { ImportedCustomerReference, ImportedOrderReference } from '../order-imports/imported-order-and-customer-reference.entity.ts';
export { OrderLimitSettingsEntity } from '../order-limits/order-limit-settings.entity.ts';
export { BudgetedOrder, OrderLimits } from '../order-limits/order-limits-and-budgeted-order.entity.ts';
export { Order, OrderItem } from '../orders/order-and-order-item.entity.ts';
export { Payment } from '../payments/payment.entity.ts';
export { ProviderEventRecord } from '../payments/provider-event.entity.ts';
export { Product, ProductStock, StockAdjustment } from '../products/product-stock-and-adjustment.entity.ts';
export { Quote, QuoteReservation } from '../quotes/quote-and-quote-reservation.entity.ts';
export { Refund } from '../refunds/refund.entity.ts';
export { Shipment } from '../shipments/shipment.entity.ts';
export { Task, TaskFile, TaskFileChunk } from '../tasks/task-and-task-file.entity.ts';
export { MonthlyUsage } from '../usage/monthly-usage.entity.ts';
export { ImportedUser } from '../users/imported-user.entity.ts';
export { User } from '../users/user.entity.ts';
export { WebhookDelivery, WebhookEndpoint } from '../webhooks/endpoints/webhook-endpoint-and-delivery.entity.ts';
