import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { getRequestContext, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { calendarMonthPeriodFromDate } from './calendar-month-period-from-date.ts';
import { MonthlyUsage } from './monthly-usage.entity.ts';

const monthsShown = 12;

export const monthlyUsageAndRateLimitRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.usage, {
    get: (request) => handleGetUsage(dependencies, request),
  });

const handleGetUsage: RouteHandler<typeof contract.usage.get, HandlerDependencies> = async ({ em }, { req }) => {
  const { clientId } = requirePrincipal(req);
  const now = new Date();
  const states = getRequestContext(req).rateLimitStates;
  const options = { orderBy: { month: 'desc' }, limit: monthsShown - 1, disableIdentityMap: true } as const;
  const past = await em.find(MonthlyUsage, { clientId, month: { $lt: calendarMonthPeriodFromDate(now).name } }, options);
  // Requests in the current month are counted in memory, so the count in the database lags behind.
  const requests = states.find(({ policy }) => policy === 'monthly')?.used ?? 0;
  const limits = states.map(({ policy, limit, windowSeconds, remaining, resetsAt }) => ({
    policy,
    limit,
    window_seconds: windowSeconds,
    remaining,
    resets_at: resetsAt.toISOString(),
  }));
  const months = [
    { month: calendarMonthPeriodFromDate(now).name, requests },
    ...past.map(({ month, requests: counted }) => ({ month, requests: counted })),
  ];
  return { status: 200, body: { client_id: clientId, limits, months } };
};
