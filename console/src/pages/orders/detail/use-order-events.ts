import type { Event } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import { keyOf, queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';

/**
 * Returns the stored events of an order, oldest first; none if the user may not read events. The query has the key of orders, so that the
 * events are refetched when an order changes.
 */
export function useOrderEvents(orderId: number): readonly Event[] {
  const isPermitted = usePermissions().can('events.list');
  const { queryFn } = queries.events.list({ subject_type: 'order', subject_id: orderId, limit: 100 });
  const { data } = useQuery({ queryKey: [...keyOf('orders'), 'events', orderId], queryFn, enabled: isPermitted });
  return data?.data ?? [];
}
