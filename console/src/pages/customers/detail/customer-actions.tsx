import type { User } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useCustomersTranslations } from '../use-customers-translations.ts';
import { EditCustomer } from './edit-customer.tsx';

/**
 * Buttons that change, suspend or close a customer's account. The buttons are not shown for staff accounts, because only administrators who
 * have signed in recently can change staff accounts.
 */
export function CustomerActions({ user }: { readonly user: User }): ReactNode {
  const t = useCustomersTranslations();
  const { can, user: signedIn } = usePermissions();
  const [isEditing, editing] = useDisclosure(false);
  const [isSuspending, suspending] = useDisclosure(false);
  const [isClosing, closing] = useDisclosure(false);
  // All users may call `users.update` for their own account, but only staff who manage customers may call `users.list`.
  if (!can('users.list') || user.role !== 'customer' || user.status === 'closed') return null;
  return (
    <>
      <Button variant="default" onClick={editing.open}>
        {t('edit.action')}
      </Button>
      {user.status === 'active' ? (
        <Button variant="danger" onClick={suspending.open}>
          {t('suspend.action')}
        </Button>
      ) : (
        <Reactivate user={user} />
      )}
      {signedIn?.role === 'admin' && (
        <Button variant="danger" onClick={closing.open}>
          {t('close.action')}
        </Button>
      )}
      <Dialog title={t('edit.title')} isOpen={isEditing} onClose={editing.close}>
        <EditCustomer user={user} onClose={editing.close} />
      </Dialog>
      <SuspendDialog user={user} isOpen={isSuspending} onClose={suspending.close} />
      <CloseDialog user={user} isOpen={isClosing} onClose={closing.close} />
    </>
  );
}

function Reactivate({ user }: { readonly user: User }): ReactNode {
  const t = useCustomersTranslations();
  const reactivate = useApiMutation(mutations.users.update(user.id), {
    changes: ['users', 'auditEvents'],
    doneMessage: t('reactivate.done'),
  });
  return (
    <Button loading={reactivate.isPending} onClick={() => reactivate.mutate({ status: 'active' })}>
      {t('reactivate.action')}
    </Button>
  );
}

type DialogProps = { readonly user: User; readonly isOpen: boolean; readonly onClose: () => void };

function SuspendDialog({ user, isOpen, onClose }: DialogProps): ReactNode {
  const t = useCustomersTranslations();
  const suspend = useApiMutation(mutations.users.update(user.id), {
    changes: ['users', 'auditEvents', 'connectedApps', 'sessions', 'apiKeys'],
    doneMessage: t('suspend.done'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={t('suspend.title', { name: user.name })}
      text={t('suspend.about')}
      action={t('suspend.action')}
      isOpen={isOpen}
      isPending={suspend.isPending}
      error={suspend.error}
      onConfirm={() => suspend.mutate({ status: 'suspended' })}
      onClose={onClose}
    />
  );
}

function CloseDialog({ user, isOpen, onClose }: DialogProps): ReactNode {
  const t = useCustomersTranslations();
  const close = useApiMutation(mutations.users.close(user.id), {
    changes: ['users', 'auditEvents'],
    doneMessage: t('close.done'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={t('close.title', { name: user.name })}
      text={t('close.about')}
      action={t('close.action')}
      isOpen={isOpen}
      isPending={close.isPending}
      error={close.error}
      onConfirm={() => close.mutate()}
      onClose={onClose}
    />
  );
}
