import type { Order, OrderItemCreate } from '@mandate/client-sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { customerApi } from './shop.ts';

/** Places an order for collection in the shop, and shows the order. */
export function usePlaceOrder(onPlaced?: () => void) {
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    ...customerApi.mutations.orders.create(),
    onSuccess: async (order: Order) => {
      queryClient.setQueryData(customerApi.queries.orders.get(order.id).queryKey, order);
      onPlaced?.();
      location.hash = `#/orders/${order.id}`;
      await queryClient.invalidateQueries({ queryKey: customerApi.keyOf('orders') });
    },
  });
  const place = (items: OrderItemCreate[]): void =>
    mutate({ items, delivery: { method: 'collection', recipient_name: 'Collected in the shop' } });
  return { place, isPending, error };
}
