import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId } from '../../schema/ids.ts';
import { page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, guarded, withCursor } from '../../protocol/problems.ts';
import { describedBy } from '../../protocol/route-metadata.ts';
import { instant } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf(commonProblems);

export const connectedApp = component(
  'ConnectedApp',
  z.object({
    id,
    application: z.object({
      client_id: z.string(),
      name: z.string(),
      first_party: z.boolean().describe('Whether the application is operated by the shop itself.'),
    }),
    device: z
      .string()
      .nullable()
      .describe('Device on which the user gave consent, derived from the `User-Agent` header; `null` if unknown.'),
    scopes: z.array(z.string()).describe('Scopes that were granted to the application.'),
    created_at: instant.describe('When the user gave consent.'),
    last_used_at: instant.describe('When the application last got an access token. Access tokens expire after five minutes.'),
  }),
);

export const connectedApps = c.router({
  list: {
    method: 'GET',
    path: '/connected-apps',
    query: z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor }).strict(),
    summary: 'List connected applications',
    description:
      'Returns the applications that can currently act for the user, newest first. An application has one entry for each device.',
    responses: { 200: page('ConnectedAppPage', connectedApp), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'connectedApps.list', access: ['connected_apps.read'] }),
  },
  remove: {
    method: 'DELETE',
    path: '/connected-apps/:connected_app_id',
    pathParams: z.object({ connected_app_id: pathId('ID of the connected application.') }),
    query: z
      .object({
        api_keys: z
          .enum(['revoke', 'keep'])
          .optional()
          .describe('Whether to revoke the API keys that the application created for the user (default: `revoke`).'),
      })
      .strict(),
    summary: 'Remove a connected application',
    description:
      'Revokes the access of the application immediately. It has to ask the user for consent before it can get access again. The API keys that it created for the user on any device are revoked as well, unless `api_keys=keep`.',
    responses: { 204: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'connectedApps.remove', access: ['connected_apps.write'] }),
  },
});
export type ConnectedApp = z.output<typeof connectedApp>;
