import type { User } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { ErrorNotice } from '../../../components/error-notice.tsx';
import { FormActions } from '../../../components/form-actions.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useCustomersMessages } from '../use-customers-messages.ts';
import { EditCustomer } from './edit-customer.tsx';

/**
 * Changes, suspends or closes the account of a customer. Accounts of staff are not changed here, because that requires a recent sign-in of an
 * administrator.
 */
export function CustomerActions({ user }: { readonly user: User }): ReactNode {
  const t = useCustomersMessages();
  const { can, user: signedIn } = usePermissions();
  const [isEditing, editing] = useDisclosure(false);
  const [isSuspending, suspending] = useDisclosure(false);
  const [isClosing, closing] = useDisclosure(false);
  // `users.update` is also permitted for the signed-in user's own account; `users.list`, only for staff who manage customers.
  if (!can('users.list') || user.role !== 'customer' || user.status === 'closed') return null;
  return (
    <>
      <Button variant="default" onClick={editing.open}>
        {t('edit.action')}
      </Button>
      {user.status === 'active' ? (
        <Button variant="default" onClick={suspending.open}>
          {t('suspend.action')}
        </Button>
      ) : (
        <Reactivate user={user} />
      )}
      {signedIn?.role === 'admin' && (
        <Button variant="default" onClick={closing.open}>
          {t('close.action')}
        </Button>
      )}
      <Dialog title={t('edit.title')} isOpen={isEditing} onClose={editing.close}>
        <EditCustomer user={user} onClose={editing.close} />
      </Dialog>
      <Dialog title={t('suspend.title', { name: user.name })} isOpen={isSuspending} onClose={suspending.close}>
        <SuspendForm user={user} onClose={suspending.close} />
      </Dialog>
      <Dialog title={t('close.title', { name: user.name })} isOpen={isClosing} onClose={closing.close}>
        <CloseForm user={user} onClose={closing.close} />
      </Dialog>
    </>
  );
}

function Reactivate({ user }: { readonly user: User }): ReactNode {
  const t = useCustomersMessages();
  const reactivate = useAction(mutations.users.update(user.id), { changes: ['users', 'auditEvents'], doneMessage: t('reactivate.done') });
  return (
    <Button loading={reactivate.isPending} onClick={() => reactivate.mutate({ status: 'active' })}>
      {t('reactivate.action')}
    </Button>
  );
}

type FormProps = { readonly user: User; readonly onClose: () => void };

function SuspendForm({ user, onClose }: FormProps): ReactNode {
  const t = useCustomersMessages();
  const suspend = useAction(mutations.users.update(user.id), {
    changes: ['users', 'auditEvents'],
    doneMessage: t('suspend.done'),
    onDone: onClose,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        suspend.mutate({ status: 'suspended' });
      }}
    >
      <p>{t('suspend.about')}</p>
      <ErrorNotice error={suspend.error} />
      <FormActions submit={t('suspend.action')} isPending={suspend.isPending} isDangerous onCancel={onClose} />
    </form>
  );
}

function CloseForm({ user, onClose }: FormProps): ReactNode {
  const t = useCustomersMessages();
  const close = useAction(mutations.users.close(user.id), {
    changes: ['users', 'auditEvents'],
    doneMessage: t('close.done'),
    onDone: onClose,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        close.mutate();
      }}
    >
      <p>{t('close.about')}</p>
      <ErrorNotice error={close.error} />
      <FormActions submit={t('close.action')} isPending={close.isPending} isDangerous onCancel={onClose} />
    </form>
  );
}
