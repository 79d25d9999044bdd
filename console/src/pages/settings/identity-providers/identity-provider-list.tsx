import type { IdentityProvider } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations, queries } from '../../../api/client.ts';
import { DeleteDialog } from '../../../components/dialogs/delete-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { StatusBadge } from '../../../components/feedback/status-badge.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { TableRowButton } from '../table-row-button.tsx';
import { SettingsHeaderWithTabs } from '../settings-header-with-tabs.tsx';
import { useSettingsTranslations, type SettingsTranslate } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { AddIdentityProviderForm } from './add-identity-provider-form.tsx';
import { EditIdentityProviderForm } from './edit-identity-provider-form.tsx';

type Shown = { readonly dialog: 'add' } | { readonly dialog: 'edit' | 'delete'; readonly provider: IdentityProvider };

/** The services through which users can sign in. */
export function IdentityProviderList(): ReactNode {
  const t = useSettingsTranslations();
  const [shown, setShown] = useState<Shown>();
  const close = (): void => setShown(undefined);
  return (
    <>
      <SettingsHeaderWithTabs actions={<Button onClick={() => setShown({ dialog: 'add' })}>{t('provider.add')}</Button>} />
      <p className={`${classes['muted']} ${classes['intro']}`}>{t('provider.about')}</p>
      <ResourceList
        label={t('section.identity-providers')}
        columns={createColumns(t, setShown)}
        query={(page) => queries.identityProviders.list(page)}
        rowKey={({ id }) => id}
        empty={<EmptyState title={t('provider.none')} text={t('provider.noneAbout')} />}
      />
      <Dialog title={t('provider.add')} isOpen={shown?.dialog === 'add'} onClose={close}>
        <AddIdentityProviderForm onClose={close} />
      </Dialog>
      <Dialog title={t('provider.edit')} isOpen={shown?.dialog === 'edit'} onClose={close}>
        {shown?.dialog === 'edit' && <EditIdentityProviderForm provider={shown.provider} onClose={close} />}
      </Dialog>
      {shown?.dialog === 'delete' && <DeleteIdentityProviderDialog provider={shown.provider} onClose={close} />}
    </>
  );
}

function DeleteIdentityProviderDialog({
  provider,
  onClose,
}: {
  readonly provider: IdentityProvider;
  readonly onClose: () => void;
}): ReactNode {
  const t = useSettingsTranslations();
  return (
    <DeleteDialog
      mutation={mutations.identityProviders.delete(provider.id)}
      changes={['identityProviders']}
      doneMessage={t('provider.deleted')}
      onDone={onClose}
      title={t('provider.delete')}
      text={t('provider.deleteAbout', { name: provider.name })}
      action={t('delete')}
      isOpen
      onClose={onClose}
    />
  );
}

function StatusButton({ provider: { id, name, status } }: { readonly provider: IdentityProvider }): ReactNode {
  const t = useSettingsTranslations();
  const isEnabled = status === 'enabled';
  const change = useApiMutation(mutations.identityProviders.update(id), {
    changes: ['identityProviders'],
    doneMessage: t(isEnabled ? 'provider.nowDisabled' : 'provider.nowEnabled'),
    notifiesErrors: true,
  });
  return (
    <TableRowButton
      text={t(isEnabled ? 'disable' : 'enable')}
      label={t(isEnabled ? 'disableNamed' : 'enableNamed', { name })}
      isDangerous={isEnabled}
      isPending={change.isPending}
      onClick={() => change.mutate({ status: isEnabled ? 'disabled' : 'enabled' })}
    />
  );
}

const createColumns = (t: SettingsTranslate, onShow: (shown: Shown) => void): Column<IdentityProvider>[] => [
  { id: 'name', header: t('provider.name'), cell: ({ name }) => name, narrowDetail: ({ audience }) => t.value('audience', audience) },
  { id: 'issuer', header: t('provider.issuer'), cell: ({ issuer }) => <code>{issuer}</code>, isSecondary: true },
  { id: 'audience', header: t('provider.audience'), cell: ({ audience }) => t.value('audience', audience), isSecondary: true },
  {
    id: 'accounts',
    header: t('provider.accounts'),
    cell: ({ creates_accounts: creates, required_for_staff: required }) =>
      [...(creates ? [t('provider.createsAccounts')] : []), ...(required ? [t('provider.requiredForStaff')] : [])].join(', ') || '–',
    isSecondary: true,
  },
  {
    id: 'status',
    header: t('provider.status'),
    cell: ({ status }) => (
      <StatusBadge tone={status === 'enabled' ? 'positive' : 'neutral'}>{t.value('providerStatus', status)}</StatusBadge>
    ),
  },
  {
    id: 'actions',
    header: t('actions'),
    align: 'end',
    cell: (provider) => (
      <span className={classes['actions']}>
        <TableRowButton
          text={t('edit')}
          label={t('editNamed', { name: provider.name })}
          onClick={() => onShow({ dialog: 'edit', provider })}
        />
        <StatusButton provider={provider} />
        <TableRowButton
          text={t('delete')}
          label={t('deleteNamed', { name: provider.name })}
          isDangerous
          onClick={() => onShow({ dialog: 'delete', provider })}
        />
      </span>
    ),
  },
];
