import type { ProductsListQuery } from '@mandate/client-sdk';
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { queries } from '../../../api/client.ts';
import { useSetUrlFilterAndResetPage } from '../../../components/lists/use-set-url-filter-and-reset-page.ts';
import { useProductsTranslations } from '../use-products-translations.ts';
import classes from './product-list.module.css';

type Props = { readonly statuses?: NonNullable<ProductsListQuery['status']> };

/** Filters the list by category. The URL contains the category, so that links and saved views include it. */
export function CategoryFilter({ statuses }: Props): ReactNode {
  const t = useProductsTranslations();
  const [parameters] = useSearchParams();
  const setFilter = useSetUrlFilterAndResetPage();
  const { data } = useQuery(queries.productCategories.list({ limit: 100, ...(statuses && { status: statuses }) }));
  const current = parameters.get('category') ?? '';
  const names = data?.data.map(({ category }) => category) ?? [];
  return (
    <NativeSelect
      className={classes['category'] ?? ''}
      aria-label={t('field.category')}
      value={current}
      onChange={(event) => setFilter('category', event.currentTarget.value)}
      data={[
        { value: '', label: t('list.allCategories') },
        // The selected category may not have been loaded yet, or it may contain no products.
        ...[...new Set([...(current === '' ? [] : [current]), ...names])].map((value) => ({ value, label: value })),
      ]}
    />
  );
}
