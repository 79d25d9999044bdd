import type { DeliveryMethod } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { DeleteDialog } from '../../../components/dialogs/delete-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { TableRowButton } from '../table-row-button.tsx';
import { SettingsHeaderWithTabs } from '../settings-header-with-tabs.tsx';
import { useSettingsTranslations, type SettingsTranslate } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { DeliveryMethodForm } from './delivery-method-form.tsx';

type Shown = { readonly dialog: 'create' } | { readonly dialog: 'edit' | 'delete'; readonly method: DeliveryMethod };

export function DeliveryMethodList(): ReactNode {
  const t = useSettingsTranslations();
  const format = useFormat();
  const [shown, setShown] = useState<Shown>();
  const close = (): void => setShown(undefined);
  const method = shown?.dialog === 'edit' ? shown.method : undefined;
  return (
    <>
      <SettingsHeaderWithTabs actions={<Button onClick={() => setShown({ dialog: 'create' })}>{t('delivery.add')}</Button>} />
      <ResourceList
        label={t('section.delivery')}
        columns={createColumns(t, format, setShown)}
        query={(page) => queries.deliveryMethods.list(page)}
        rowKey={({ code }) => code}
        empty={<EmptyState title={t('delivery.none')} text={t('delivery.noneAbout')} />}
      />
      <Dialog
        title={t(method ? 'delivery.edit' : 'delivery.add')}
        isOpen={shown?.dialog === 'create' || shown?.dialog === 'edit'}
        onClose={close}
      >
        <DeliveryMethodForm method={method} onClose={close} />
      </Dialog>
      {shown?.dialog === 'delete' && <DeleteDeliveryMethodDialog method={shown.method} onClose={close} />}
    </>
  );
}

function DeleteDeliveryMethodDialog({ method, onClose }: { readonly method: DeliveryMethod; readonly onClose: () => void }): ReactNode {
  const t = useSettingsTranslations();
  return (
    <DeleteDialog
      mutation={mutations.deliveryMethods.delete(method.code)}
      changes={['deliveryMethods']}
      doneMessage={t('delivery.deleted')}
      onDone={onClose}
      title={t('delivery.delete')}
      text={t('delivery.deleteAbout', { name: method.name })}
      action={t('delete')}
      isOpen
      onClose={onClose}
    />
  );
}

const createColumns = (t: SettingsTranslate, format: Format, onShow: (shown: Shown) => void): Column<DeliveryMethod>[] => [
  { id: 'name', header: t('delivery.name'), cell: ({ name }) => name },
  { id: 'code', header: t('delivery.code'), cell: ({ code }) => <code>{code}</code>, isSecondary: true },
  {
    id: 'address',
    header: t('delivery.address'),
    cell: ({ requires_address }) => t(requires_address ? 'delivery.addressRequired' : 'delivery.noAddress'),
    isSecondary: true,
  },
  { id: 'price', header: t('delivery.price'), cell: ({ price, currency }) => format.money(price, currency), align: 'end' },
  {
    id: 'actions',
    header: t('actions'),
    align: 'end',
    cell: (method) => (
      <span className={classes['actions']}>
        <TableRowButton text={t('edit')} label={t('editNamed', { name: method.name })} onClick={() => onShow({ dialog: 'edit', method })} />
        <TableRowButton
          text={t('delete')}
          label={t('deleteNamed', { name: method.name })}
          isDangerous
          onClick={() => onShow({ dialog: 'delete', method })}
        />
      </span>
    ),
  },
];
