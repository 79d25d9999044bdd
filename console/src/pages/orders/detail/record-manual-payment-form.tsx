import type { Order } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { apiClient, mutations } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import classes from './order-detail.module.css';

/** Form that records and confirms a payment, such as a bank transfer, that was made without a payment provider. */
export function RecordManualPaymentForm({ order, onClose }: { readonly order: Order; readonly onClose: () => void }): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const { mutationKey } = mutations.payments.create(order.id);
  const mutationFn = async (): Promise<unknown> => {
    const { id } = await apiClient.payments.create(order.id, { provider: 'manual' });
    return apiClient.payments.confirm(id);
  };
  const record = useApiMutation(
    { mutationKey, mutationFn },
    { changes: ['payments', 'orders', 'stats'], doneMessage: t('payments.confirmed'), onDone: onClose },
  );
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        record.mutate();
      }}
    >
      <p>{t('recordPayment.about', { amount: format.money(order.total, order.currency) })}</p>
      <ErrorNotice error={record.error} />
      <FormActions submit={t('recordPayment.submit')} isPending={record.isPending} onCancel={onClose} />
    </form>
  );
}
