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
      first_party: z.boolean().describe('Whether the shop itself made it.'),
    }),
    device: z.string().nullable().describe('What it was allowed on, as far as the browser told.'),
    scopes: z.array(z.string()).describe('What it may do.'),
    created_at: instant.describe('When it was allowed.'),
    last_used_at: instant.describe('When it last got an access token; these live for five minutes.'),
  }),
);

export const connectedApps = c.router({
  list: {
    method: 'GET',
    path: '/connected-apps',
    query: z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor }).strict(),
    summary: 'List connected applications',
    description: 'The applications that can act for the current user now, newest first: one entry for each device.',
    responses: { 200: page('ConnectedAppPage', connectedApp), ...fails(...guarded, ...withCursor) },
    metadata: describedBy({ operationId: 'connectedApps.list', access: ['connected_apps.read'] }),
  },
  remove: {
    method: 'DELETE',
    path: '/connected-apps/:connected_app_id',
    pathParams: z.object({ connected_app_id: pathId('Identifier of the connection.') }),
    query: z
      .object({
        api_keys: z
          .enum(['revoke', 'keep'])
          .optional()
          .describe('Whether the API keys that the application created for the user are revoked with its access (default: `revoke`).'),
      })
      .strict(),
    summary: 'Remove a connected application',
    description:
      'Its access ends with this request. Before it gets any again, the user is asked. The API keys that the application created for the user, on any device, are revoked unless `api_keys=keep`.',
    responses: { 204: c.noBody(), ...fails(...guarded, 'not_found') },
    metadata: describedBy({ operationId: 'connectedApps.remove', access: ['connected_apps.write'] }),
  },
});
export type ConnectedApp = z.output<typeof connectedApp>;
