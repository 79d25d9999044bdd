import type { Task } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { queries } from '../../api/client.ts';
import { usePermissions } from '../../api/permissions.tsx';
import { useFormat } from '../../languages/use-format.ts';
import { pages } from '../../pages.ts';
import { useHomeTranslations, type HomeTranslate } from './use-home-translations.ts';
import { useProductStatistics } from './use-product-statistics.ts';
import classes from './needs-attention-counts.module.css';

/** Larger numbers are shown as `100+`, because the API returns no totals. */
const maxCount = 100;

type Count = {
  readonly id: 'toShip' | 'unpaid' | 'approvals' | 'runningLow' | 'failingWebhooks' | 'running';
  readonly count: number | undefined;
  readonly isPermitted: boolean;
  /** Path of the console page on which staff can take action. */
  readonly to: string;
};

/** Counts of orders, products, webhooks and tasks that need attention, with links to the pages on which staff can take action. */
export function NeedsAttentionCounts(): ReactNode {
  const t = useHomeTranslations();
  const counts = useCounts().filter(({ isPermitted }) => isPermitted);
  return (
    <section aria-label={t('tasks.title')}>
      <ul className={classes['counts']}>
        {counts.map((one) => (
          <li key={one.id}>
            <CountLink {...one} t={t} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function CountLink({ id, count, to, t }: Count & { readonly t: HomeTranslate }): ReactNode {
  const format = useFormat();
  const content = (
    <>
      <span className={classes['name']}>{t(`tasks.${id}`)}</span>
      <span className={classes['count']} data-empty={count === 0}>
        {count === undefined ? '–' : count > maxCount ? t('tasks.more', { count: maxCount }) : format.number(count)}
      </span>
    </>
  );
  return isConsolePage(to) ? (
    <Link className={classes['tile'] ?? ''} to={to}>
      {content}
    </Link>
  ) : (
    <span className={classes['tile']}>{content}</span>
  );
}

const isConsolePage = (to: string): boolean => pages.some(({ path }) => path !== '/' && to.startsWith(path));

function useCounts(): readonly Count[] {
  const { can } = usePermissions();
  const [orders, stats, approvals, webhooks, tasks] = [
    can('orders.list'),
    can('stats.products'),
    can('approvals.listAll'),
    can('webhooks.list'),
    can('tasks.list'),
  ];
  const limit = maxCount;
  const toShip = useQuery({
    ...queries.orders.list({ status: ['paid'], fulfillment_status: ['unfulfilled', 'partial'], limit }),
    enabled: orders,
  });
  const unpaid = useQuery({ ...queries.orders.list({ status: ['pending'], payment_status: ['unpaid'], limit }), enabled: orders });
  const waiting = useQuery({ ...queries.approvals.listAll({ status: ['pending'], limit }), enabled: approvals });
  const products = useProductStatistics({ enabled: stats });
  const endpoints = useQuery({ ...queries.webhooks.list({ limit }), enabled: webhooks });
  const running = useQuery({ ...queries.tasks.list({ status: ['queued', 'running'], limit }), enabled: tasks });
  const failing = endpoints.data?.data.filter(({ status, failing_since }) => status === 'disabled' || failing_since !== null);
  return [
    { id: 'toShip', count: countOf(toShip.data), isPermitted: orders, to: '/orders?tab=toShip' },
    { id: 'unpaid', count: countOf(unpaid.data), isPermitted: orders, to: '/orders?tab=unpaid' },
    { id: 'approvals', count: countOf(waiting.data), isPermitted: approvals, to: '/orders/approvals?tab=pending' },
    { id: 'runningLow', count: products.data?.running_low.length, isPermitted: stats, to: '/products' },
    { id: 'failingWebhooks', count: failing?.length, isPermitted: webhooks, to: '/developers' },
    { id: 'running', count: countOf(running.data), isPermitted: tasks, to: findPageOfTasks(running.data?.data ?? []) },
  ];
}

/**
 * Returns the path of the backups page if the newest task is a backup task. Otherwise, returns the path of the products page, from which
 * most other tasks are started.
 */
const findPageOfTasks = ([newest]: readonly Task[]): string =>
  newest?.type.startsWith('backup') === true ? '/settings/backups' : '/products';

const countOf = (page: { readonly data: readonly unknown[]; readonly next_cursor: string | null } | undefined): number | undefined =>
  page && (page.next_cursor === null ? page.data.length : maxCount + 1);
