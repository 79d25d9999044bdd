import type { Order, Shipment } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { StatusBadge, type StatusTone } from '../../../components/feedback/status-badge.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import classes from './order-detail.module.css';

const tones: Readonly<Record<string, StatusTone>> = { shipped: 'info', delivered: 'positive', failed: 'critical' };

/** Parcels of an order, with their tracking details. */
export function OrderShipmentsCard({ order, shipments }: { readonly order: Order; readonly shipments: readonly Shipment[] }): ReactNode {
  const t = useOrdersTranslations();
  if (shipments.length === 0) return null;
  return (
    <Card title={t('shipments.title')}>
      <ul className={classes['rows']}>
        {shipments.map((shipment) => (
          <ShipmentRow key={shipment.id} shipment={shipment} order={order} />
        ))}
      </ul>
    </Card>
  );
}

function ShipmentRow({ shipment, order }: { readonly shipment: Shipment; readonly order: Order }): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const { id, status, carrier, tracking_number: tracking, tracking_url: url, items, created_at } = shipment;
  const update = useApiMutation(mutations.shipments.update(id), {
    changes: ['shipments', 'orders', 'stats'],
    doneMessage: t('shipments.updated'),
  });
  const contents = items.map(({ line, quantity }) => `${quantity} × ${order.items.find((item) => item.line === line)?.name ?? line}`);
  const parcel = [carrier, tracking].filter((part) => part !== null).join(' ');
  return (
    <li>
      <span className={classes['rowText']}>
        <span>{url === null ? parcel || t('shipments.parcel') : <a href={url}>{parcel || t('shipments.track')}</a>}</span>
        <span className={classes['detail']}>{contents.join(', ')}</span>
        <span className={classes['detail']}>{format.dateTime(created_at)}</span>
      </span>
      <span className={classes['rowEnd']}>
        <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('shipmentStatus', status)}</StatusBadge>
        {(status === 'shipped' || status === 'pending') && (
          <IfPermitted operation="shipments.update">
            <Button
              size="xs"
              variant="default"
              loading={update.isPending}
              onClick={() => update.mutate({ status: status === 'pending' ? 'shipped' : 'delivered' })}
            >
              {t(status === 'pending' ? 'shipments.markShipped' : 'shipments.markDelivered')}
            </Button>
          </IfPermitted>
        )}
      </span>
      <ErrorNotice error={update.error} />
    </li>
  );
}
