import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { rateLimitStates } from '../http/middleware/rate-limit.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { getCalendarMonth } from './calendar-month.ts';

const monthsShown = 12;

const readMonths = prepareStatement<{ month: string; requests: number }>(
  'read_client_usage',
  'select month, requests from usage_months where client_id = $1 and month < $2 order by month desc limit $3',
);

export const usageRoutes = ({ em }: HandlerDependencies) =>
  initServer().router(contract.usage, {
    get: async ({ req }) => {
      const { clientId } = requirePrincipal(req);
      const now = new Date();
      const states = rateLimitStates(req);
      const past = await readMonths(em, [clientId, getCalendarMonth(now).name, monthsShown - 1]);
      // The current month is counted in memory, which is ahead of the database.
      const requests = states.find(({ policy }) => policy === 'monthly')?.used ?? 0;
      const limits = states.map(({ policy, limit, windowSeconds, remaining, resetsAt }) => ({
        policy,
        limit,
        window_seconds: windowSeconds,
        remaining,
        resets_at: resetsAt.toISOString(),
      }));
      return { status: 200, body: { client_id: clientId, limits, months: [{ month: getCalendarMonth(now).name, requests }, ...past] } };
    },
  });
