import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { statement } from '../database/queries/prepared-statement.ts';
import { limitStatesOf } from '../http/middleware/rate-limit.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { monthOf } from './month.ts';

const monthsShown = 12;

const readMonths = statement<{ month: string; requests: number }>(
  'usage_of_client',
  'select month, requests from usage_months where client_id = $1 and month < $2 order by month desc limit $3',
);

export const usageRoutes = ({ em }: ResourceDeps) =>
  initServer().router(contract.usage, {
    get: async ({ req }) => {
      const { clientId } = principalOf(req);
      const now = new Date();
      const states = limitStatesOf(req);
      const past = await readMonths(em, [clientId, monthOf(now).name, monthsShown - 1]);
      // The current month is counted in memory, which is ahead of the database.
      const requests = states.find(({ policy }) => policy === 'monthly')?.used ?? 0;
      const limits = states.map(({ policy, limit, windowSeconds, remaining, resetsAt }) => ({
        policy,
        limit,
        window_seconds: windowSeconds,
        remaining,
        resets_at: resetsAt.toISOString(),
      }));
      return { status: 200, body: { client_id: clientId, limits, months: [{ month: monthOf(now).name, requests }, ...past] } };
    },
  });
