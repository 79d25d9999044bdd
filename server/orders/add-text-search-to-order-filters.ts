import { maxOrderSearchMatches } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { OrderFilters } from './list-orders.sql.ts';

/** Returns the filters. If a search text is given, the returned filters select only orders that match the text. */
export async function addTextSearchToOrderFilters(
  em: EntityManager,
  filters: OrderFilters,
  text: string | undefined,
): Promise<OrderFilters> {
  if (text === undefined) return filters;
  const found = await em
    .getKysely()
    .selectFrom((eb) =>
      eb
        .fn<{ id: number | string }>('mandate_find_orders_v1', [
          eb.val(text),
          eb.val(filters.userId ?? null),
          eb.val(maxOrderSearchMatches),
        ])
        .as('found'),
    )
    .select('found.id')
    .execute();
  const ids = found.map(({ id }) => Number(id));
  const { ids: requested } = filters;
  return { ...filters, ids: requested ? ids.filter((id) => requested.includes(id)) : ids };
}
