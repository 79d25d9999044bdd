import { expect, test } from 'vitest';
import { oauthEndpointPaths } from '../../../server/oauth/protocol/endpoint-paths-and-audiences.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const spellings = Object.values(oauthEndpointPaths).flatMap((path) => [
  path.toUpperCase(),
  path.replace(/^\/oauth\/\w/, (start) => start.toUpperCase()),
  `${path}/`,
]);

test.each(spellings)('%s returns 404, because limits and transactions apply to exact paths', async (path) => {
  for (const method of ['GET', 'POST']) {
    const body = method === 'POST' ? new URLSearchParams({ grant_type: 'refresh_token', user_code: 'x' }) : undefined;
    const response = await fetch(`${server.origin}${path}`, { method, redirect: 'manual', ...(body && { body }) });
    expect([method, response.status]).toEqual([method, 404]);
  }
});
