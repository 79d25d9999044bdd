import { formatDate, formatMoney } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FailureNotice } from './notice.tsx';
import { customerApi } from './shop.ts';

export function OrdersPage({ pollingInterval }: { readonly pollingInterval: number | false }): ReactNode {
  const orders = useQuery({ ...customerApi.queries.orders.list({ limit: 20 }), refetchInterval: pollingInterval });
  return (
    <section aria-labelledby="orders">
      <h1 id="orders">Your orders</h1>
      <FailureNotice error={orders.error} onRetry={() => void orders.refetch()} />
      {orders.data?.data.length === 0 && (
        <p>
          You have not ordered anything yet. <a href="#/">Browse the products</a>
        </p>
      )}
      <ul className="orders">
        {orders.data?.data.map((order) => (
          <li key={order.id}>
            <a href={`#/orders/${order.id}`}>Order {order.id}</a>
            <span>{formatDate(order.created_at)}</span>
            <span>{formatMoney(order.total, order.currency)}</span>
            <span className={`status ${order.status}`}>{order.status}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
