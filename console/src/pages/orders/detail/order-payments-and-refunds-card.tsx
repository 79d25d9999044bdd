import type { Order, Payment, Refund } from '@mandate/client-sdk';
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

const tones: Readonly<Record<string, StatusTone>> = {
  succeeded: 'positive',
  failed: 'critical',
  pending: 'warning',
  requires_action: 'warning',
};
const changes = ['payments', 'refunds', 'orders', 'stats'] as const;

type Props = { readonly order: Order; readonly payments: readonly Payment[]; readonly refunds: readonly Refund[] };

/** Payments and refunds of an order. Staff confirm manual payments and refunds after the money has arrived. */
export function OrderPaymentsAndRefundsCard({ order, payments, refunds }: Props): ReactNode {
  const t = useOrdersTranslations();
  // The payment for an imported order is recorded in the system from which the order was imported.
  if (payments.length === 0 && order.payment_status !== 'unpaid') return null;
  const manual = new Set(payments.filter(({ provider }) => provider === 'manual').map(({ id }) => id));
  return (
    <Card title={t('payments.title')}>
      {payments.length === 0 && <p className={classes['detail']}>{t('payments.none')}</p>}
      <ul className={classes['rows']}>
        {refunds.map((refund) => (
          <RefundRow key={`refund ${refund.id}`} refund={refund} isManual={manual.has(refund.payment_id)} />
        ))}
        {payments.map((payment) => (
          <PaymentRow key={payment.id} payment={payment} />
        ))}
      </ul>
    </Card>
  );
}

function PaymentRow({
  payment: { id, provider, status, amount, currency, created_at, failure_message },
}: {
  readonly payment: Payment;
}): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const confirm = useApiMutation(mutations.payments.confirm(id), { changes, doneMessage: t('payments.confirmed') });
  return (
    <li>
      <span className={classes['rowText']}>
        <span>{t.value('provider', provider)}</span>
        <span className={classes['detail']}>
          {[format.dateTime(created_at), failure_message].filter((part) => part !== null).join(' · ')}
        </span>
      </span>
      <span className={classes['rowEnd']}>
        <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('paymentStatus', status)}</StatusBadge>
        <span className={classes['amount']}>{format.money(amount, currency)}</span>
        {provider === 'manual' && status === 'pending' && (
          <IfPermitted operation="payments.confirm">
            <Button size="xs" variant="default" loading={confirm.isPending} onClick={() => confirm.mutate()}>
              {t('payments.confirm')}
            </Button>
          </IfPermitted>
        )}
      </span>
      <ErrorNotice error={confirm.error} />
    </li>
  );
}

function RefundRow({ refund, isManual }: { readonly refund: Refund; readonly isManual: boolean }): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const { id, status, amount, currency, reason, note, created_at } = refund;
  const confirm = useApiMutation(mutations.refunds.confirm(id), { changes, doneMessage: t('refunds.confirmed') });
  return (
    <li>
      <span className={classes['rowText']}>
        <span>{t('refunds.refund', { reason: t.value('refundReason', reason) })}</span>
        <span className={classes['detail']}>{[format.dateTime(created_at), note].filter((part) => part !== null).join(' · ')}</span>
      </span>
      <span className={classes['rowEnd']}>
        <StatusBadge tone={tones[status] ?? 'neutral'}>{t.value('paymentStatus', status)}</StatusBadge>
        <span className={classes['amount']}>{format.money(-amount, currency)}</span>
        {isManual && status === 'pending' && (
          <IfPermitted operation="refunds.confirm">
            <Button size="xs" variant="default" loading={confirm.isPending} onClick={() => confirm.mutate()}>
              {t('refunds.confirm')}
            </Button>
          </IfPermitted>
        )}
      </span>
      <ErrorNotice error={confirm.error} />
    </li>
  );
}
