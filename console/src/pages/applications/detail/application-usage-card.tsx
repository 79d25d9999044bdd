import type { Application } from '@mandate/client-sdk';
import { Skeleton } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Suspense, lazy, type ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import type { UsageMonth } from './usage-chart.tsx';

/** The chart library is large, so it is loaded only after the numbers are shown. */
const UsageChart = lazy(async () => ({ default: (await import('./usage-chart.tsx')).UsageChart }));

/** Number of months in the chart, including the current one. */
const monthCount = 6;

/** Requests and errors of an application in recent months, and its quota. */
export function ApplicationUsageCard({ application }: { readonly application: Application }): ReactNode {
  const t = useApplicationsTranslations();
  const format = useFormat();
  const { client_id: clientId, quota_per_month: quota } = application;
  const results = useQueries({
    queries: lastMonths().map((month) => ({ ...queries.stats.applications({ from: month, to: month, limit: 100 }), staleTime: 60_000 })),
  });
  const error = results.find((result) => result.error)?.error;
  const months = results.map(({ data }): UsageMonth | undefined => {
    if (!data) return undefined;
    const { requests = 0, errors = 0, orders = 0 } = data.applications.find((entry) => entry.client_id === clientId) ?? {};
    return { month: data.from, requests, errors, orders };
  });
  const current = months.at(-1);
  const loaded = months.filter((month) => month !== undefined);
  return (
    <Card title={t('usage')}>
      <ErrorNotice error={error} />
      {loaded.length < monthCount || !current ? (
        !error && <Skeleton height={260} />
      ) : (
        <>
          <PropertyList
            properties={[
              {
                name: t('usage.thisMonth'),
                value:
                  quota === null
                    ? t('usage.requestCount', { count: current.requests })
                    : t('usage.ofQuota', {
                        requests: format.number(current.requests),
                        quota: format.number(quota),
                        share: format.percent(current.requests / quota),
                      }),
              },
              { name: t('usage.errors'), value: format.number(current.errors) },
              { name: t('usage.orders'), value: format.number(current.orders) },
            ]}
          />
          {loaded.some(({ requests, errors, orders }) => requests + errors + orders > 0) && (
            <Suspense fallback={<Skeleton height={220} mt="md" />}>
              <UsageChart months={loaded} quota={quota} />
            </Suspense>
          )}
        </>
      )}
    </Card>
  );
}

/** Returns the last calendar months in UTC, such as `2026-11`, oldest first. */
function lastMonths(): readonly string[] {
  const now = new Date();
  return Array.from({ length: monthCount }, (_, index) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthCount + 1 + index)).toISOString().slice(0, 7),
  );
}
