import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/client.ts';

/** Returns the currency with which forms start: the currency of another product, because most shops have one currency. */
export function useDefaultCurrency(): string {
  const { data } = useQuery(queries.products.list({ limit: 1, status: ['draft', 'active', 'archived'] }));
  return data?.data[0]?.currency ?? 'GBP';
}
