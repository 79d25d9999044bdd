import type { Product } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { usePermissions } from '../../../api/permissions.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { StockForm } from '../stock-form.tsx';
import { useProductsTranslations } from '../use-products-translations.ts';
import { TableCellEditor } from './table-cell-editor.tsx';
import classes from './product-list.module.css';

export function EditableStockCell({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const format = useFormat();
  const { stock, name } = product;
  const text = stock === null ? t('stock.untracked') : format.number(stock);
  const value = <span className={stock === 0 ? classes['empty'] : stock === null ? classes['untracked'] : undefined}>{text}</span>;
  if (!usePermissions().can('products.adjustStock')) return value;
  return (
    <TableCellEditor
      label={t('list.changeStock', { name, stock: text })}
      value={value}
      form={(close) => <StockForm product={product} onClose={close} />}
    />
  );
}
