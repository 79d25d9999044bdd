import { formatMoney, type OrderSummary } from '@mandate/client-sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Notice } from './notice.tsx';
import { customer } from './shop.ts';

const pollingIntervalMs = 1_000;

export function Orders(): ReactNode {
  const orders = useQuery({ ...customer.queries.orders.list({ limit: 5 }), refetchInterval: pollingIntervalMs });
  return (
    <section aria-labelledby="orders">
      <h2 id="orders">Your orders</h2>
      <Notice>{orders.error?.message}</Notice>
      {orders.data?.data.length === 0 && <p>Nothing yet.</p>}
      <ul className="orders">
        {orders.data?.data.map((order) => (
          <li key={order.id}>
            <OrderLine order={order} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OrderLine({ order }: { readonly order: OrderSummary }): ReactNode {
  const queryClient = useQueryClient();
  const pay = useMutation({
    ...customer.mutations.payments.create(order.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: customer.keyOf('orders') }),
  });
  return (
    <article aria-label={`Order ${order.id}`}>
      <h3>Order {order.id}</h3>
      <p>{formatMoney(order.total, order.currency)}</p>
      <p className={`status ${order.status}`}>{order.status}</p>
      {order.payment_status === 'unpaid' && order.status === 'pending' && (
        <button disabled={pay.isPending} onClick={() => pay.mutate({ provider: 'test', method_token: 'test_ok' })}>
          Pay
        </button>
      )}
      <Notice>{pay.error?.message}</Notice>
    </article>
  );
}
