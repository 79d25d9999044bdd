import type { Order, OrderCancellation } from '@mandate/client-sdk';
import { NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import classes from './order-detail.module.css';

const reasons = ['staff', 'customer', 'out_of_stock', 'fraud'] as const satisfies OrderCancellation['reason'][];

export function CancelOrderForm({ order, onClose }: { readonly order: Order; readonly onClose: () => void }): ReactNode {
  const t = useOrdersTranslations();
  const [reason, setReason] = useState<(typeof reasons)[number]>('staff');
  const cancel = useApiMutation(mutations.orders.cancel(order.id), {
    changes: ['orders', 'payments', 'refunds', 'stats'],
    doneMessage: t('cancel.done'),
    onDone: onClose,
  });
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        cancel.mutate({ reason });
      }}
    >
      <p>{t(order.payment_status === 'unpaid' ? 'cancel.aboutUnpaid' : 'cancel.aboutPaid')}</p>
      <NativeSelect
        label={t('cancel.reason')}
        value={reason}
        data={reasons.map((value) => ({ value, label: t(`cancelReason.${value}`) }))}
        onChange={(event) => setReason(reasons.find((value) => value === event.currentTarget.value) ?? 'staff')}
      />
      <ErrorNotice error={cancel.error} />
      <FormActions submit={t('cancel.submit')} isPending={cancel.isPending} isDangerous onCancel={onClose} />
    </form>
  );
}
