import type { AuditEventsListQuery } from '@mandate/client-sdk';

export type AuditAction = NonNullable<AuditEventsListQuery['action']>[number];

/** Recorded actions. The code does not compile if an action from the contract is missing. */
const actionNames: Record<AuditAction, true> = {
  'account.created': true,
  'account.suspended': true,
  'account.reactivated': true,
  'account.role_changed': true,
  'account.closed': true,
  'accounts.exported': true,
  'accounts.imported': true,
  'session.started': true,
  'session.ended': true,
  'sessions.ended': true,
  'password.changed': true,
  'password.reset': true,
  'email.changed': true,
  'email.verified': true,
  'authenticator_app.added': true,
  'authenticator_app.removed': true,
  'recovery_codes.created': true,
  'recovery_code.used': true,
  'passkey.added': true,
  'passkey.removed': true,
  'linked_account.added': true,
  'linked_account.removed': true,
  'consent.granted': true,
  'connected_app.removed': true,
  'connected_app.limits_changed': true,
  'approval.requested': true,
  'approval.approved': true,
  'approval.declined': true,
  'approval.canceled': true,
  'approval.expired': true,
  'approval.used': true,
  'approval.settings_changed': true,
  'api_key.created': true,
  'api_key.revoked': true,
  'application.created': true,
  'application.registered': true,
  'application.updated': true,
  'application.deleted': true,
  'application.secret_rotated': true,
  'identity_provider.created': true,
  'identity_provider.updated': true,
  'identity_provider.deleted': true,
  'signing_key.rotated': true,
  'backup.started': true,
  'branding.changed': true,
  'order_limit_settings.changed': true,
  'token.reused': true,
};

const isKnown = (name: string): name is AuditAction => Object.hasOwn(actionNames, name);

/** All recorded actions, in the order of the contract. */
export const auditActions: readonly AuditAction[] = Object.keys(actionNames).filter(isKnown);
