import type { Order } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { Card } from '../../../components/page-sections/card.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import { createOrderTimelineEntries } from './create-order-timeline-entries.ts';
import { useOrderEvents } from './use-order-events.ts';
import type { OrderParts } from './order-queries-and-possible-actions.ts';
import classes from './order-detail.module.css';

/** The history of an order, newest entry first. New entries appear when the console receives their events. */
export function OrderTimelineCard({ order, parts }: { readonly order: Order; readonly parts: OrderParts }): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const entries = createOrderTimelineEntries(order, parts, useOrderEvents(order.id), t, format);
  return (
    <Card title={t('timeline.title')}>
      <ol className={classes['timeline']} aria-live="polite" aria-label={t('timeline.title')}>
        {entries.map(({ key, at, text, detail }) => (
          <li key={key}>
            <span>{text}</span>
            <span className={classes['detail']}>{[format.dateTime(at), detail].filter((part) => part !== undefined).join(' · ')}</span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
