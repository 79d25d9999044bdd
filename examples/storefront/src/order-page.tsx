import { formatDate, formatMoney, type Order } from '@mandate/client-sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FailureNotice } from './notice.tsx';
import { customerApi } from './shop.ts';

type OrderPageProps = { readonly orderId: number; readonly pollingInterval: number | false };

export function OrderPage({ orderId, pollingInterval }: OrderPageProps): ReactNode {
  const order = useQuery({ ...customerApi.queries.orders.get(orderId), refetchInterval: pollingInterval });
  return (
    <>
      <p>
        <a href="#/orders">All orders</a>
      </p>
      <h1>Order {orderId}</h1>
      <FailureNotice error={order.error} onRetry={() => void order.refetch()} />
      {order.isPending && <p>Loading the order …</p>}
      {order.data && <OrderDetails order={order.data} />}
    </>
  );
}

function OrderDetails({ order }: { readonly order: Order }): ReactNode {
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: customerApi.keyOf('orders') });
  const pay = useMutation({ ...customerApi.mutations.payments.create(order.id), onSuccess: refresh });
  const cancel = useCancelOrder(order);
  const isPayable = order.payment_status === 'unpaid' && order.status === 'pending';
  return (
    <article className="order" aria-label={`Order ${order.id}`}>
      <p className={`status ${order.status}`}>{order.status}</p>
      <Timeline order={order} />
      <ul className="lines">
        {order.items.map((item) => (
          <li key={item.line}>
            <span>
              {item.quantity} × {item.name}
            </span>
            <span className="price">{formatMoney(item.total, order.currency)}</span>
          </li>
        ))}
      </ul>
      <p className="total">
        Total <strong>{formatMoney(order.total, order.currency)}</strong>
      </p>
      {isPayable && (
        <p className="actions">
          <button disabled={pay.isPending} onClick={() => pay.mutate({ provider: 'test', method_token: 'test_ok' })}>
            Pay
          </button>
          <button className="quiet" disabled={cancel.isPending} onClick={() => cancel.mutate({})}>
            Cancel order
          </button>
        </p>
      )}
      <FailureNotice error={pay.error ?? cancel.error} />
    </article>
  );
}

/** Cancels an order. The page shows the result immediately, and restores the order if the service rejects the cancellation. */
function useCancelOrder(order: Order) {
  const queryClient = useQueryClient();
  const { queryKey } = customerApi.queries.orders.get(order.id);
  return useMutation({
    ...customerApi.mutations.orders.cancel(order.id),
    onMutate: () => queryClient.setQueryData<Order>(queryKey, { ...order, status: 'canceled', canceled_at: new Date().toISOString() }),
    onError: () => queryClient.setQueryData<Order>(queryKey, order),
    onSettled: () => queryClient.invalidateQueries({ queryKey: customerApi.keyOf('orders') }),
  });
}

function Timeline({ order }: { readonly order: Order }): ReactNode {
  const steps: readonly (readonly [name: string, at: string | null])[] = [
    ['Placed', order.created_at],
    ['Paid', order.paid_at],
    ...(order.canceled_at === null
      ? ([
          ['Shipped', order.shipped_at],
          ['Delivered', order.delivered_at],
        ] as const)
      : ([['Canceled', order.canceled_at]] as const)),
  ];
  return (
    <ol className="timeline" aria-label="Progress" aria-live="polite">
      {steps.map(([name, at]) => (
        <li key={name} className={at === null ? 'open' : 'done'}>
          <strong>{name}</strong>
          <span>{at === null ? 'not yet' : formatDate(at, { dateStyle: 'medium', timeStyle: 'short' })}</span>
        </li>
      ))}
    </ol>
  );
}
