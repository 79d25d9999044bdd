import type { SqlOptions } from '@mikro-orm/sql';
import { ApiKey } from '../api-keys/api-key.entity.ts';
import { Application } from '../applications/application.entity.ts';
import { AuditEvent } from '../audit/audit-event.entity.ts';
import { DeliveryMethod } from '../delivery-methods/delivery-method.entity.ts';
import { Event, EventSequence } from '../events/event.entity.ts';
import { IdempotencyKey } from '../http/writes/idempotency-key.entity.ts';
import { ImportedCustomer, ImportedOrder } from '../order-imports/import-mapping.entity.ts';
import { OutgoingMail } from '../mail/outgoing-mail.entity.ts';
import { AttemptCounter } from '../oauth/brute-force/attempt-counter.entity.ts';
import { ConnectedAppEntity } from '../oauth/grants/connected-app.entity.ts';
import { Consent } from '../oauth/grants/consent.entity.ts';
import { EmailLink } from '../oauth/accounts/email-link.entity.ts';
import { OauthRecord } from '../oauth/storage/oauth-record.entity.ts';
import { Password } from '../oauth/passwords/password.entity.ts';
import { AuthenticatorApp, UsedChallenge, Passkey, RecoveryCode } from '../oauth/second-factors/second-factor.entity.ts';
import { BrowserSession } from '../oauth/sessions/browser-session.entity.ts';
import { SigningKey } from '../oauth/signing-keys/signing-key.entity.ts';
import { Order, OrderItem } from '../orders/order.entity.ts';
import { Payment } from '../payments/payment.entity.ts';
import { ProviderEventRecord } from '../payments/provider-event.entity.ts';
import { Product, ProductStock, StockAdjustment } from '../products/product.entity.ts';
import { Task, TaskFile, TaskFileChunk } from '../tasks/task.entity.ts';
import { Refund } from '../refunds/refund.entity.ts';
import { Shipment } from '../shipments/shipment.entity.ts';
import { UsageMonth } from '../usage/usage-month.entity.ts';
import { User } from '../users/user.entity.ts';
import { WebhookDelivery, WebhookEndpoint } from '../webhooks/endpoints/webhook.entity.ts';

/** Every database entity, in alphabetical order. Listed explicitly, so that nothing has to be discovered at start-up. */
export const entities: NonNullable<SqlOptions['entities']> = [
  ApiKey,
  Application,
  AttemptCounter,
  AuditEvent,
  AuthenticatorApp,
  BrowserSession,
  UsedChallenge,
  ConnectedAppEntity,
  Consent,
  DeliveryMethod,
  Event,
  EventSequence,
  IdempotencyKey,
  ImportedCustomer,
  ImportedOrder,
  EmailLink,
  OauthRecord,
  Order,
  OrderItem,
  OutgoingMail,
  Passkey,
  Password,
  Payment,
  Product,
  ProductStock,
  ProviderEventRecord,
  Refund,
  Shipment,
  RecoveryCode,
  SigningKey,
  StockAdjustment,
  Task,
  TaskFile,
  TaskFileChunk,
  UsageMonth,
  User,
  WebhookDelivery,
  WebhookEndpoint,
];
