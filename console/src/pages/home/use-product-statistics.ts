import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { queries } from '../../api/client.ts';
import { statisticsQueryOf, useStatisticsRange } from './use-statistics-range.ts';

/** Maximum number of products in each list. */
export const maxListedProducts = 100;

/**
 * Returns the product statistics for the selected period. All parts of the page use the same query, so only one request is sent. While
 * another period is loading, the lists of the previous one remain, because the low stock does not depend on the period.
 */
export function useProductStatistics({ enabled = true } = {}) {
  const query = queries.stats.products({ ...statisticsQueryOf(useStatisticsRange()), limit: maxListedProducts });
  return useQuery({ ...query, enabled, staleTime: 60_000, placeholderData: keepPreviousData });
}
