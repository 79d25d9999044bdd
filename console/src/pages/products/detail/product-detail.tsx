import type { Product } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { shouldErrorReplaceData } from '../../../api/should-error-replace-data.ts';
import { queries } from '../../../api/client.ts';
import { IfPermitted, usePermissions } from '../../../api/permissions.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { PropertyList } from '../../../components/page-sections/property-list.tsx';
import { TwoColumnLayout } from '../../../components/page-sections/two-column-layout.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { PageSkeleton } from '../../../layout/page-skeleton.tsx';
import { ProductStatusBadge } from '../product-status-badge.tsx';
import { useProductsTranslations } from '../use-products-translations.ts';
import { EditProduct } from './edit-product.tsx';
import { ProductActions } from './product-actions.tsx';
import { StockSection } from './stock-section.tsx';

export function ProductDetail(): ReactNode {
  const common = useCommonTranslations();
  const { productId = '' } = useParams();
  const { data: product, error, refetch } = useQuery(queries.products.get(productId));
  if (shouldErrorReplaceData(error, product)) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!product) return <PageSkeleton />;
  return (
    <>
      <PageHeader
        title={product.name}
        status={<ProductStatusBadge {...product} />}
        about={product.sku}
        parent={{ to: '/products', name: common('page.products') }}
        actions={<ProductActions product={product} />}
      />
      <TwoColumnLayout
        main={<ProductSection product={product} />}
        side={
          <>
            <StockSection product={product} />
            <MoreSection product={product} />
          </>
        }
      />
    </>
  );
}

function ProductSection({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const format = useFormat();
  return (
    <Card title={t('product')}>
      {usePermissions().can('products.update') ? (
        <EditProduct key={product.id} product={product} />
      ) : (
        <PropertyList
          properties={[
            { name: t('field.name'), value: product.name },
            { name: t('field.description'), value: product.description },
            { name: t('field.category'), value: product.category },
            { name: t('field.price'), value: format.money(product.price, product.currency) },
            { name: t('field.tax_rate_bps'), value: format.percent(product.tax_rate_bps / 10_000) },
          ]}
        />
      )}
    </Card>
  );
}

function MoreSection({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const format = useFormat();
  return (
    <Card title={t('more')}>
      <PropertyList
        properties={[
          { name: t('field.id'), value: product.id },
          { name: t('field.currency'), value: product.currency },
          { name: t('field.created_at'), value: format.dateTime(product.created_at) },
          { name: t('field.updated_at'), value: format.dateTime(product.updated_at) },
        ]}
      />
      <IfPermitted operation="orders.list">
        <p style={{ marginTop: 12 }}>
          <Link to={`/orders?q=${encodeURIComponent(product.sku)}`}>{t('ordersWithProduct')}</Link>
        </p>
      </IfPermitted>
    </Card>
  );
}
