import type { Event } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import { keyOf, queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';

/**
 * Returns an order's stored events, oldest first. Returns no events if the user is not permitted to read events. The query key starts with
 * the key of orders, so that the events are refetched when an order changes.
 */
export function useOrderEvents(orderId: number): readonly Event[] {
  const isPermitted = usePermissions().can('events.list');
  const { queryFn } = queries.events.list({ subject_type: 'order', subject_id: orderId, limit: 100 });
  const { data } = useQuery({ queryKey: [...keyOf('orders'), 'events', orderId], queryFn, enabled: isPermitted });
  return data?.data ?? [];
}
