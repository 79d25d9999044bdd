import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, idInUrlSchema } from '../../schema/ids.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  cursorProblemCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import { singleLineInputSchema, timestampSchema, timestampInputSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses(commonProblemTypes);

/** Actions on credentials and permissions that are recorded as audit events. */
export const auditActions = [
  'account.created',
  'account.suspended',
  'account.reactivated',
  'account.role_changed',
  'account.closed',
  'accounts.exported',
  'accounts.imported',
  'session.started',
  'session.ended',
  'sessions.ended',
  'password.changed',
  'password.reset',
  'email.changed',
  'email.verified',
  'authenticator_app.added',
  'authenticator_app.removed',
  'recovery_codes.created',
  'recovery_code.used',
  'passkey.added',
  'passkey.removed',
  'linked_account.added',
  'linked_account.removed',
  'consent.granted',
  'connected_app.removed',
  'connected_app.limits_changed',
  'approval.requested',
  'approval.approved',
  'approval.declined',
  'approval.canceled',
  'approval.expired',
  'approval.used',
  'approval.settings_changed',
  'api_key.created',
  'api_key.revoked',
  'application.created',
  'application.registered',
  'application.updated',
  'application.deleted',
  'application.secret_rotated',
  'identity_provider.created',
  'identity_provider.updated',
  'identity_provider.deleted',
  'signing_key.rotated',
  'backup.started',
  'branding.changed',
  'order_limit_settings.changed',
  'token.reused',
] as const;

export const auditEventSchema = withSchemaName(
  'AuditEvent',
  z.object({
    id: idSchema,
    occurred_at: timestampSchema,
    action: z.string().describe('Action that was recorded, such as `password.changed`. More values may be added.'),
    outcome: z.enum(['success', 'refused']),
    actor_id: idSchema
      .nullable()
      .describe('User who performed the action; `null` if no user was signed in or an application acted on its own behalf.'),
    user_id: idSchema.nullable().describe('User whose credentials or permissions were affected.'),
    client_id: z.string().nullable().describe('Client ID of the application through which the action was performed.'),
    subject: z.string().nullable().describe('Object of the action, such as `api_key:7`.'),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    details: z.record(z.unknown()).describe('Further details, which never contain a secret.'),
  }),
);

export const auditEventRoutes = defineResource('Audit events', 'Audit log of changes to credentials and permissions.', {
  list: {
    method: 'GET',
    path: '/audit-events',
    query: z
      .object({
        limit: paginationParameters.limit,
        cursor: paginationParameters.cursor,
        user_id: idInUrlSchema.optional().describe('Only events that affected this user.'),
        actor_id: idInUrlSchema.optional().describe('Only actions by this user.'),
        client_id: singleLineInputSchema(2048).optional().describe('Only actions performed through the application with this client ID.'),
        action: commaSeparatedEnumSchema(auditActions).optional(),
        outcome: z.enum(['success', 'refused']).optional(),
        occurred_at_gte: timestampInputSchema.optional().describe('Only events that occurred at this time or later.'),
        occurred_at_lt: timestampInputSchema.optional().describe('Only events that occurred before this time.'),
      })
      .strict(),
    summary: 'List audit events',
    description:
      'Returns the recorded changes to credentials and permissions, newest first. Entries are never changed or deleted. Requires an administrator account.',
    responses: {
      200: listPageSchema('AuditEventPage', auditEventSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'auditEvents.list', access: ['audit.read'] }),
  },
});
export type AuditAction = (typeof auditActions)[number];
export type AuditEvent = z.output<typeof auditEventSchema>;
