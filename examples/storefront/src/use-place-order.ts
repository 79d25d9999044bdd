import type { Order, OrderItemCreate } from '@mandate/client-sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { customer } from './shop.ts';

/** Places an order that the customer collects, and shows the order. */
export function usePlaceOrder(onPlaced?: () => void) {
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    ...customer.mutations.orders.create(),
    onSuccess: async (order: Order) => {
      queryClient.setQueryData(customer.queries.orders.get(order.id).queryKey, order);
      onPlaced?.();
      location.hash = `#/orders/${order.id}`;
      await queryClient.invalidateQueries({ queryKey: customer.keyOf('orders') });
    },
  });
  const place = (items: OrderItemCreate[]): void =>
    mutate({ items, delivery: { method: 'collection', recipient_name: 'Collected in the shop' } });
  return { place, isPending, error };
}
