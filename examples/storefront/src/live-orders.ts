import { ApiError, type Order, type OrderPage } from '@mandate/client-sdk';
import { followEvents } from '@mandate/client-sdk/webhooks';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { customerApi, customerClient } from './shop.ts';

const pollingIntervalMs = 2_000;
const reconnectDelayMs = 3_000;

/**
 * Keeps the orders on the page up to date with events. Returns the interval at which the page must poll if events are not available, for
 * example because the customer denied the permission. Otherwise, returns `false`.
 */
export function useLiveOrders(isSignedIn: boolean): number | false {
  const queryClient = useQueryClient();
  const [isPolling, setIsPolling] = useState(false);
  useEffect(() => {
    if (!isSignedIn) return undefined;
    const stop = new AbortController();
    void followOrders(queryClient, stop.signal).catch(() => setIsPolling(true));
    return () => stop.abort();
  }, [isSignedIn, queryClient]);
  return isSignedIn && isPolling ? pollingIntervalMs : false;
}

/** Updates the cached orders with events until `signal` is aborted. Fails if the customer denied the permission. */
async function followOrders(queryClient: QueryClient, signal: AbortSignal): Promise<void> {
  let after: number | undefined;
  while (!signal.aborted) {
    try {
      after ??= (await customerClient.events.list({ limit: 1 }, { signal })).latest_id;
      // Orders may have changed before the event feed was opened or while it was interrupted.
      await queryClient.invalidateQueries({ queryKey: customerApi.keyOf('orders') });
      for await (const event of followEvents(customerClient, { after, type: ['order.*'], signal })) {
        after = event.id;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter selects only events of orders
        updateCachedOrder(queryClient, event.data.object as Order);
      }
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && error.status !== 410) throw error;
      after = undefined;
      await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs));
    }
  }
}

function updateCachedOrder(queryClient: QueryClient, order: Order): void {
  const { queryKey } = customerApi.queries.orders.get(order.id);
  queryClient.setQueryData<Order>(queryKey, (known) => (known && known.version > order.version ? known : order));
  const isListed = queryClient
    .getQueriesData<OrderPage>({ queryKey: [...customerApi.keyOf('orders'), 'list'] })
    .some(([, page]) => page?.data.some(({ id }) => id === order.id));
  const listKey = [...customerApi.keyOf('orders'), 'list'];
  if (!isListed) void queryClient.invalidateQueries({ queryKey: listKey });
  const replace = (page: OrderPage | undefined): OrderPage | undefined =>
    page && { ...page, data: page.data.map((known) => (known.id === order.id ? { ...known, ...order } : known)) };
  queryClient.setQueriesData<OrderPage>({ queryKey: listKey }, replace);
}
