import type { Product, ProductUpdate, StockAdjustmentCreate } from '@mandate/client-sdk';
import { apiClient } from '../../api/client.ts';
import type { FieldDifference } from '../../components/forms/conflict-difference.tsx';
import { useUpdateWithConflictDetection, type UpdateConflict } from '../../components/forms/use-update-with-conflict-detection.ts';
import { useFormat } from '../../languages/use-format.ts';
import { useProductsTranslations } from './use-products-translations.ts';

/** Product fields that the console can change. */
export type ProductChanges = Omit<ProductUpdate, 'metadata'> & { readonly stock?: number | null };

/** Changes fields of a product, unless another user has changed the same fields in the meantime. */
export function useProductUpdateWithConflictDetection(productId: number, onDone: () => void) {
  const t = useProductsTranslations();
  return useUpdateWithConflictDetection<Product, Omit<ProductUpdate, 'metadata'>>({
    read: () => apiClient.products.get(productId).withResponse(),
    write: (changes, ifMatch) => apiClient.products.update(productId, changes, { ifMatch }),
    changes: ['products', 'productCategories', 'stats'],
    doneMessage: t('saved'),
    onDone,
  });
}

/**
 * Adjusts the stock of a product to a counted number of units. The adjustment is relative, so that it preserves sales made in the meantime.
 */
export function useStockAdjustmentToCountedNumber(productId: number, adjustment: Omit<StockAdjustmentCreate, 'delta'>, onDone: () => void) {
  const t = useProductsTranslations();
  return useUpdateWithConflictDetection<Product, { readonly stock: number }>({
    read: () => apiClient.products.get(productId).withResponse(),
    write: async ({ stock }, _ifMatch, current) => {
      const delta = stock - (current.stock ?? 0);
      if (delta !== 0) await apiClient.products.adjustStock(productId, { ...adjustment, delta });
    },
    changes: ['products', 'stats'],
    doneMessage: t('stock.saved'),
    onDone,
  });
}

/** Returns a function that lists the conflicting fields with both values, as `ConflictDifference` shows them. */
export function useProductConflictFieldLister() {
  const t = useProductsTranslations();
  const format = useFormat();
  const values = (product: ProductChanges, currency: string): Readonly<Record<string, string | null>> => ({
    name: product.name ?? null,
    description: product.description ?? null,
    category: product.category ?? null,
    price: product.price === undefined ? null : format.money(product.price, currency),
    tax_rate_bps: product.tax_rate_bps === undefined ? null : format.percent(product.tax_rate_bps / 10_000),
    stock: product.stock === undefined || product.stock === null ? null : format.number(product.stock),
    status: product.status === undefined ? null : t.value('status', product.status),
  });
  return ({ current, changes, fields }: UpdateConflict<Product, ProductChanges>): readonly FieldDifference[] => {
    const [theirs, yours] = [values(current, current.currency), values(changes, current.currency)];
    return fields.map((field) => ({ field: t.value('field', field), theirs: theirs[field] ?? null, yours: yours[field] ?? null }));
  };
}
