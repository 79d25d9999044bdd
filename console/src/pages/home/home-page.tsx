import type { ReactNode } from 'react';
import { usePermissions } from '../../api/permissions.tsx';
import { PageHeader } from '../../components/page-sections/page-header.tsx';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { BestSellingProducts, LowStockProducts } from './low-stock-and-best-selling-products.tsx';
import { LatestOrders } from './latest-orders.tsx';
import { SalesOverview } from './sales-overview.tsx';
import { NeedsAttentionCounts } from './needs-attention-counts.tsx';
import classes from './home.module.css';

/** Shows the sales of the selected period, and everything that requires action by staff. */
export function HomePage(): ReactNode {
  const common = useCommonTranslations();
  const { can } = usePermissions();
  return (
    <>
      <PageHeader title={common('page.home')} />
      <div className={classes['home']}>
        <NeedsAttentionCounts />
        {can('stats.orders') && <SalesOverview />}
        <div className={classes['columns']}>
          {can('orders.list') && <LatestOrders />}
          {can('stats.products') && (
            <div className={classes['products']}>
              <LowStockProducts />
              <BestSellingProducts />
            </div>
          )}
        </div>
      </div>
    </>
  );
}
