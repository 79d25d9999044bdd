import type { Order, RefundCreate } from '@mandate/client-sdk';
import { NativeSelect, Textarea } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useIdempotencyKey } from '../../../api/use-idempotency-key.ts';
import { mutations } from '../../../api/client.ts';
import { AmountInput, formatAmountForInput, parseAmountToMinorUnits } from '../../../components/forms/amount-input.tsx';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import { LineQuantityFields, linesFromQuantities, type LineQuantities } from './line-quantity-fields.tsx';
import classes from './order-detail.module.css';

const reasons = ['requested_by_customer', 'damaged', 'duplicate', 'fraudulent', 'other'] as const satisfies RefundCreate['reason'][];
type Reason = (typeof reasons)[number];

type Props = { readonly order: Order; readonly refundable: number; readonly onClose: () => void };

/** Form that refunds all or part of the refundable amount. */
export function RefundOrderForm({ order, refundable, onClose }: Props): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const { currency } = order;
  const [text, setText] = useState(formatAmountForInput(refundable, currency));
  const [reason, setReason] = useState<Reason>('requested_by_customer');
  const [note, setNote] = useState('');
  const [quantities, setQuantities] = useState<LineQuantities>({});
  const amount = parseAmountToMinorUnits(text, currency);
  const input = { reason, restock: linesFromQuantities(quantities), ...(note.trim() !== '' && { note: note.trim() }) };
  const idempotencyKey = useIdempotencyKey({ amount, ...input });
  const refund = useApiMutation(mutations.refunds.create(order.id, { idempotencyKey }), {
    changes: ['refunds', 'payments', 'orders', 'stats'],
    doneMessage: t('refund.done'),
    onDone: onClose,
  });
  const isInvalid = amount === undefined || amount < 1 || amount > refundable;
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isInvalid) refund.mutate({ amount, ...input });
      }}
    >
      <AmountInput
        label={t('refund.amount')}
        description={t('refund.remaining', { amount: format.money(refundable, currency) })}
        currency={currency}
        value={text}
        onChange={setText}
        error={amount !== undefined && amount > refundable ? t('refund.tooMuch') : findFieldErrorDetail(refund.error, '#/amount')}
      />
      <ReasonSelect reason={reason} onChange={setReason} />
      <LineQuantityFields
        legend={t('refund.restock')}
        order={order}
        maximums={findRestockableQuantities(order)}
        quantities={quantities}
        onChange={setQuantities}
      />
      <Textarea
        label={t('refund.note')}
        maxLength={500}
        value={note}
        error={findFieldErrorDetail(refund.error, '#/note')}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <ErrorNotice error={refund.error} fields={['#/amount', '#/note']} />
      <FormActions
        submit={isInvalid ? t('refund.submit') : t('refund.submitAmount', { amount: format.money(amount, currency) })}
        isPending={refund.isPending}
        isDangerous
        isDisabled={isInvalid}
        onCancel={onClose}
      />
    </form>
  );
}

/** Returns how many units of each line have not been returned to stock. */
const findRestockableQuantities = ({ items }: Order): Record<string, number> =>
  Object.fromEntries(items.map(({ line, quantity, restocked_quantity: restocked }) => [line, quantity - restocked]));

function ReasonSelect({ reason, onChange }: { readonly reason: Reason; readonly onChange: (reason: Reason) => void }): ReactNode {
  const t = useOrdersTranslations();
  return (
    <NativeSelect
      label={t('refund.reason')}
      value={reason}
      data={reasons.map((value) => ({ value, label: t(`refundReason.${value}`) }))}
      onChange={(event) => onChange(reasons.find((value) => value === event.currentTarget.value) ?? 'other')}
    />
  );
}
