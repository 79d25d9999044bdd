import type { Order } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { usePermissions } from '../../../api/permissions.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import { CancelOrderForm } from './cancel-order-form.tsx';
import { RecordManualPaymentForm } from './record-manual-payment-form.tsx';
import { RefundOrderForm } from './refund-order-form.tsx';
import { ShipOrderForm } from './ship-order-form.tsx';
import { getRefundableAmount, isCancelable, isShippable, type OrderParts } from './order-queries-and-possible-actions.ts';

/** Buttons for the actions that are possible in the order's state and that the user is permitted to perform. */
export function OrderActions({ order, parts }: { readonly order: Order; readonly parts: OrderParts }): ReactNode {
  const t = useOrdersTranslations();
  const { can } = usePermissions();
  const refundable = getRefundableAmount(order, parts.refunds);
  const canRecordPayment = can('payments.create') && can('payments.confirm');
  const isPaymentOpen = parts.payments?.some(({ status }) => ['pending', 'requires_action', 'processing'].includes(status)) ?? true;
  return (
    <>
      {can('orders.cancel') && isCancelable(order) && (
        <ActionDialog name={t('cancel.action')} variant="danger">
          {(close) => <CancelOrderForm order={order} onClose={close} />}
        </ActionDialog>
      )}
      {can('refunds.create') && refundable > 0 && (
        <ActionDialog name={t('refund.action')} variant="danger">
          {(close) => <RefundOrderForm order={order} refundable={refundable} onClose={close} />}
        </ActionDialog>
      )}
      {canRecordPayment && order.status === 'pending' && !isPaymentOpen && (
        <ActionDialog name={t('recordPayment.action')} variant="filled">
          {(close) => <RecordManualPaymentForm order={order} onClose={close} />}
        </ActionDialog>
      )}
      {can('shipments.create') && isShippable(order) && (
        <ActionDialog name={t('ship.action')} variant="filled">
          {(close) => <ShipOrderForm order={order} onClose={close} />}
        </ActionDialog>
      )}
    </>
  );
}

type ActionDialogProps = {
  readonly name: string;
  readonly variant: 'filled' | 'danger';
  readonly children: (close: () => void) => ReactNode;
};

/** A button that opens a form. */
function ActionDialog({ name, variant, children }: ActionDialogProps): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant={variant} onClick={open}>
        {name}
      </Button>
      <Dialog title={name} isOpen={isOpen} onClose={close}>
        {children(close)}
      </Dialog>
    </>
  );
}
