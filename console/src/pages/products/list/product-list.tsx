import type { Product, ProductsListQuery } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { queries } from '../../../api/client.ts';
import { IfPermitted, usePermissions } from '../../../api/permissions.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ListToolbar } from '../../../components/lists/list-toolbar.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { ProductStatusBadge } from '../product-status-badge.tsx';
import { useProductsTranslations, type ProductsTranslate } from '../use-products-translations.ts';
import { CategoryFilter } from './category-filter.tsx';
import { EditablePriceCell } from './editable-price-cell.tsx';
import { EditableStockCell } from './editable-stock-cell.tsx';
import classes from './product-list.module.css';

const statuses = ['active', 'draft', 'archived'] as const;
const isStatus = (name: string): name is (typeof statuses)[number] => statuses.some((status) => status === name);

export function ProductList(): ReactNode {
  const t = useProductsTranslations();
  const common = useCommonTranslations();
  const { can } = usePermissions();
  const filters = useFilters();
  const columns = useMemo(() => createColumns(t), [t]);
  // Only staff who may change products can see products that are not for sale.
  const tabs = can('products.update') ? ['all', ...statuses].map((value) => ({ value, name: t.value('tab', value) })) : [];
  return (
    <>
      <PageHeader title={common('page.products')} actions={<ListActions />} />
      <ListToolbar list="products" tabs={tabs} searchLabel={t('list.search')}>
        <CategoryFilter {...(filters.status && { statuses: filters.status })} />
      </ListToolbar>
      <ResourceList
        label={common('page.products')}
        columns={columns}
        query={(page) => queries.products.list({ ...filters, ...page })}
        rowKey={({ id }) => id}
        rowPath={({ id }) => `/products/${id}`}
        empty={<EmptyState title={t('list.empty')} {...(can('products.create') && { text: t('list.emptyAbout') })} />}
      />
    </>
  );
}

function ListActions(): ReactNode {
  const t = useProductsTranslations();
  return (
    <IfPermitted operation="products.create">
      <IfPermitted operation="productImports.create">
        <Button component={Link} to="/products/import" variant="default">
          {t('import.action')}
        </Button>
      </IfPermitted>
      <Button component={Link} to="/products/new">
        {t('create.action')}
      </Button>
    </IfPermitted>
  );
}

/** Returns the filters in the URL. */
function useFilters(): ProductsListQuery {
  const [parameters] = useSearchParams();
  const { can } = usePermissions();
  const [tab, q, category] = ['tab', 'q', 'category'].map((name) => parameters.get(name) ?? '');
  const shown = isStatus(tab ?? '') ? statuses.filter((status) => status === tab) : [...statuses];
  return {
    ...(can('products.update') && { status: shown }),
    ...(q !== undefined && q !== '' && { q }),
    ...(category !== undefined && category !== '' && { category }),
  };
}

const createColumns = (t: ProductsTranslate): Column<Product>[] => [
  {
    id: 'name',
    header: t('field.name'),
    cell: ({ name, sku }) => (
      <span className={classes['name']}>
        {name}
        <span className={classes['sku']}>{sku}</span>
      </span>
    ),
    narrowDetail: (product) => product.status !== 'active' && <ProductStatusBadge {...product} />,
  },
  { id: 'category', header: t('field.category'), cell: ({ category }) => category, isSecondary: true },
  { id: 'status', header: t('field.status'), cell: (product) => <ProductStatusBadge {...product} />, isSecondary: true },
  { id: 'price', header: t('field.price'), cell: (product) => <EditablePriceCell product={product} />, align: 'end' },
  { id: 'stock', header: t('field.stock'), cell: (product) => <EditableStockCell product={product} />, align: 'end' },
];
