import type { WebhookEndpoint } from '@mandate/client-sdk';
import { Button, Menu } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import { EditEndpointForm } from './edit-endpoint-form.tsx';
import { RotateSecretForm } from './rotate-secret-form.tsx';

type Props = { readonly endpoint: WebhookEndpoint };

/** Buttons for an endpoint's actions. */
export function EndpointActions({ endpoint }: Props): ReactNode {
  const t = useDevelopersTranslations();
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete'>();
  const close = (): void => setDialog(undefined);
  return (
    <IfPermitted operation="webhooks.update">
      <TestButton endpoint={endpoint} />
      <Button variant="default" onClick={() => setDialog('edit')}>
        {t('edit')}
      </Button>
      <StatusButton endpoint={endpoint} />
      <Menu position="bottom-end" width={220} withinPortal>
        <Menu.Target>
          <Button variant="default" px="xs" aria-label={t('more')}>
            <Icon name="more" />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item c="var(--critical)" onClick={() => setDialog('rotate')}>
            {t('secret.rotate')}…
          </Menu.Item>
          <Menu.Item c="var(--critical)" onClick={() => setDialog('delete')}>
            {t('endpoint.delete')}…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog title={t('endpoint.edit')} isOpen={dialog === 'edit'} onClose={close}>
        <EditEndpointForm endpoint={endpoint} onClose={close} />
      </Dialog>
      <Dialog title={t('secret.rotate')} isOpen={dialog === 'rotate'} onClose={close}>
        <RotateSecretForm endpointId={endpoint.id} onClose={close} />
      </Dialog>
      <DeleteDialog endpoint={endpoint} isOpen={dialog === 'delete'} onClose={close} />
    </IfPermitted>
  );
}

function TestButton({ endpoint }: Props): ReactNode {
  const t = useDevelopersTranslations();
  const test = useApiMutation(mutations.webhooks.test(endpoint.id), { changes: ['webhooks'], doneMessage: t('endpoint.tested') });
  return (
    <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
      {t('endpoint.test')}
    </Button>
  );
}

function StatusButton({ endpoint }: Props): ReactNode {
  const t = useDevelopersTranslations();
  const isEnabled = endpoint.status === 'enabled';
  const update = useApiMutation(mutations.webhooks.update(endpoint.id), {
    changes: ['webhooks'],
    doneMessage: t(isEnabled ? 'endpoint.nowDisabled' : 'endpoint.nowEnabled'),
  });
  return (
    <Button
      variant={isEnabled ? 'danger' : 'default'}
      loading={update.isPending}
      onClick={() => update.mutate({ status: isEnabled ? 'disabled' : 'enabled' })}
    >
      {t(isEnabled ? 'endpoint.disable' : 'endpoint.enable')}
    </Button>
  );
}

function DeleteDialog({ endpoint, isOpen, onClose }: Props & { readonly isOpen: boolean; readonly onClose: () => void }): ReactNode {
  const t = useDevelopersTranslations();
  const navigate = useNavigate();
  const remove = useApiMutation(mutations.webhooks.delete(endpoint.id), {
    changes: [],
    doneMessage: t('endpoint.deleted'),
    onDone: () => void navigate('/developers/webhooks'),
  });
  return (
    <ConfirmDialog
      title={t('endpoint.delete')}
      text={t('endpoint.deleteAbout', { url: endpoint.url })}
      action={t('endpoint.delete')}
      isOpen={isOpen}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
