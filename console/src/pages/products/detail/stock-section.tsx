import type { Product, StockAdjustment } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo, type ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { StockForm } from '../stock-form.tsx';
import { useProductsTranslations, type ProductsTranslate } from '../use-products-translations.ts';
import classes from './product-form.module.css';

/** Current stock of a product, and the history of its adjustments. */
export function StockSection({ product }: { readonly product: Product }): ReactNode {
  const t = useProductsTranslations();
  const format = useFormat();
  const [isOpen, dialog] = useDisclosure(false);
  const columns = useMemo(() => createColumns(t, format), [t, format]);
  const adjust = (
    <IfPermitted operation="products.adjustStock">
      <Button size="xs" variant="default" onClick={dialog.open}>
        {t('stock.action')}
      </Button>
    </IfPermitted>
  );
  return (
    <Card title={t('field.stock')} actions={adjust}>
      <p className={classes['stock']}>
        {product.stock === null ? (
          <small>{t('stock.untracked')}</small>
        ) : (
          t.rich('stock.units', { count: product.stock, text: format.number(product.stock), small: (parts) => <small>{parts}</small> })
        )}
      </p>
      <IfPermitted operation="products.listStockAdjustments">
        <h3>{t('stock.history')}</h3>
        <div className={classes['history']}>
          <ResourceList
            label={t('stock.history')}
            columns={columns}
            query={(page) => queries.products.listStockAdjustments(product.id, { ...page, limit: 10 })}
            rowKey={({ id }) => id}
            empty={<p>{t('stock.noHistory')}</p>}
          />
        </div>
      </IfPermitted>
      <Dialog title={t('stock.title', { name: product.name })} isOpen={isOpen} onClose={dialog.close}>
        <StockForm product={product} hasNote onClose={dialog.close} />
      </Dialog>
    </Card>
  );
}

const createColumns = (t: ProductsTranslate, format: Format): Column<StockAdjustment>[] => [
  {
    id: 'reason',
    header: t('stock.reason'),
    cell: ({ reason, note, created_at }) => (
      <>
        {t.value('reason', reason)}
        <br />
        <small title={format.dateTime(created_at)}>{format.relative(created_at)}</small>
        {note !== null && <div>{note}</div>}
      </>
    ),
  },
  { id: 'delta', header: t('stock.change'), cell: ({ delta }) => format.signed(delta), align: 'end' },
  { id: 'after', header: t('stock.after'), cell: ({ stock_after }) => format.number(stock_after), align: 'end' },
];
