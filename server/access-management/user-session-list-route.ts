import { initServer } from '@ts-rest/express';
import { contract, type Session } from '@mandate/contract';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { listSessionsOfUserByStart, type SessionSummary } from '../oauth/sessions/record-list-and-revoke-browser-sessions.ts';
import { assertSessionsAppsAndKeysReadable } from '../users/find-user-and-check-access.ts';

export const userSessionListRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.sessions, {
    listOfUser: (request) => handleListSessionsOfUser(dependencies, request),
  });

const handleListSessionsOfUser: RouteHandler<typeof contract.sessions.listOfUser, HandlerDependencies> = async (
  { em, pages },
  { params: { user_id: userId }, query, req, res },
) => {
  await assertSessionsAppsAndKeysReadable(em, requirePrincipal(req), userId);
  const position = pages.decodeCursor(req, query);
  const after = position && decodePosition(String(position[0]));
  const rows = await listSessionsOfUserByStart(em, userId, new Date(), after, query.limit + 1);
  return { status: 200, body: pages.respondWithPage(req, res, query, rows, toSession, (row) => [encodePosition(row), 0]) };
};

const toSession = ({ uid, device, startedAt, lastUsedAt }: SessionSummary): Session => ({
  id: uid,
  device,
  started_at: startedAt.toISOString(),
  last_used_at: lastUsedAt.toISOString(),
});

// The ID in a cursor position must be a number, but session identifiers are strings. Therefore, the first value of the position contains
// both the time and the identifier.
const encodePosition = ({ startedAt, uid }: SessionSummary): string => `${startedAt.toISOString()} ${uid}`;

function decodePosition(text: string): Pick<SessionSummary, 'startedAt' | 'uid'> {
  const [startedAt = '', uid = ''] = text.split(' ');
  return { startedAt: new Date(startedAt), uid };
}
