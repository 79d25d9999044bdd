import type { Order } from '@mandate/client-sdk';
import { TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useIdempotencyKey } from '../../../api/use-idempotency-key.ts';
import { mutations } from '../../../api/client.ts';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import { LineQuantityFields, linesFromQuantities, type LineQuantities } from './line-quantity-fields.tsx';
import classes from './order-detail.module.css';

const textFields = ['carrier', 'tracking_number', 'tracking_url'] as const;

/** Form that ships some or all of the units in an order that have not been shipped yet. */
export function ShipOrderForm({ order, onClose }: { readonly order: Order; readonly onClose: () => void }): ReactNode {
  const t = useOrdersTranslations();
  const remaining = Object.fromEntries(order.items.map(({ line, quantity, shipped_quantity: shipped }) => [line, quantity - shipped]));
  const [quantities, setQuantities] = useState<LineQuantities>(() =>
    Object.fromEntries(Object.entries(remaining).map(([line, quantity]) => [line, String(quantity)])),
  );
  const [texts, setTexts] = useState<Partial<Record<(typeof textFields)[number], string>>>({});
  const items = linesFromQuantities(quantities);
  const tracking = Object.fromEntries(textFields.flatMap((name) => (texts[name]?.trim() ? [[name, texts[name].trim()]] : [])));
  const input = { status: 'shipped', items, ...tracking } as const;
  const ship = useApiMutation(mutations.shipments.create(order.id, { idempotencyKey: useIdempotencyKey(input) }), {
    changes: ['shipments', 'orders', 'stats'],
    doneMessage: t('ship.done'),
    onDone: onClose,
  });
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        ship.mutate(input);
      }}
    >
      <LineQuantityFields
        legend={t('ship.quantities')}
        order={order}
        maximums={remaining}
        quantities={quantities}
        onChange={setQuantities}
      />
      {textFields.map((name) => (
        <TextInput
          key={name}
          label={t(`ship.${name}`)}
          value={texts[name] ?? ''}
          error={findFieldErrorDetail(ship.error, `#/${name}`)}
          onChange={(event) => setTexts({ ...texts, [name]: event.currentTarget.value })}
        />
      ))}
      <ErrorNotice error={ship.error} fields={textFields.map((name) => `#/${name}`)} />
      <FormActions submit={t('ship.submit')} isPending={ship.isPending} isDisabled={items.length === 0} onCancel={onClose} />
    </form>
  );
}
