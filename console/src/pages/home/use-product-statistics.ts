import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/client.ts';
import { browserTimeZone } from './browser-time-zone.ts';

/** Maximum number of products in each list. */
export const maxListedProducts = 100;

/** Returns the product statistics for the last 30 days. All parts of the page use the same query, so only one request is sent. */
export const useProductStatistics = ({ enabled = true } = {}) =>
  useQuery({ ...queries.stats.products({ limit: maxListedProducts, time_zone: browserTimeZone }), enabled, staleTime: 60_000 });
