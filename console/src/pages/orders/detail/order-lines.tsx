import type { Order } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { Card } from '../../../components/page-sections/card.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import classes from './order-detail.module.css';

/** Shows the lines and amounts of an order. */
export function OrderLinesCard({ order }: { readonly order: Order }): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const money = (amount: number): string => format.money(amount, order.currency);
  return (
    <Card title={t('lines.title')}>
      <table className={classes['lines']}>
        <thead>
          <tr>
            <th scope="col">{t('lines.product')}</th>
            <th scope="col">{t('lines.quantity')}</th>
            <th scope="col">{t('lines.total')}</th>
          </tr>
        </thead>
        <tbody>
          {order.items.map(({ line, name, sku, unit_price, quantity, shipped_quantity, total }) => (
            <tr key={line}>
              <td>
                {name}
                <div className={classes['detail']}>
                  {sku} · {money(unit_price)}
                </div>
              </td>
              <td>
                {format.number(quantity)}
                {shipped_quantity > 0 && shipped_quantity < quantity && (
                  <div className={classes['detail']}>{t('lines.shipped', { count: shipped_quantity })}</div>
                )}
              </td>
              <td>{money(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Totals order={order} money={money} />
    </Card>
  );
}

function Totals({ order, money }: { readonly order: Order; readonly money: (amount: number) => string }): ReactNode {
  const t = useOrdersTranslations();
  const rows: readonly (readonly [name: string, amount: number, isShown: boolean])[] = [
    [t('totals.subtotal'), order.subtotal, true],
    [t('totals.discount'), -order.discount_total, order.discount_total > 0],
    [t('totals.shipping'), order.shipping_total, true],
    [t(order.tax_mode === 'inclusive' ? 'totals.taxIncluded' : 'totals.tax'), order.tax_total, order.tax_total > 0],
  ];
  return (
    <dl className={classes['totals']}>
      {rows
        .filter(([, , isShown]) => isShown)
        .map(([name, amount]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{money(amount)}</dd>])}
      <dt className={classes['total']}>{t('totals.total')}</dt>
      <dd className={classes['total']}>{money(order.total)}</dd>
      {order.refunded_total > 0 && (
        <>
          <dt>{t('totals.refunded')}</dt>
          <dd>{money(-order.refunded_total)}</dd>
        </>
      )}
    </dl>
  );
}
