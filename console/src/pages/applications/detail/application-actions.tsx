import type { Application } from '@mandate/client-sdk';
import { Button, NativeSelect } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { DeleteDialog } from '../../../components/dialogs/delete-dialog.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { SecretShownOnce } from '../../../components/forms/secret-shown-once.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { consoleEnvironment } from '../../../console-environment.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';

type Props = { readonly application: Application };

/** Buttons that rotate an application's secret, and disable or delete the application. */
export function ApplicationActions({ application }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const [isRotating, rotation] = useDisclosure(false);
  const [isDeleting, deletion] = useDisclosure(false);
  const hasSecret = application.token_endpoint_auth_method === 'client_secret_basic';
  // If the console's own application were disabled or deleted, the console could no longer be used to undo that action.
  const isConsole = application.client_id === consoleEnvironment.clientId;
  return (
    <>
      <IfPermitted operation="applications.rotateSecret">
        {hasSecret && (
          <Button variant="danger" onClick={rotation.open}>
            {t('rotate.action')}
          </Button>
        )}
      </IfPermitted>
      <IfPermitted operation="applications.update">{!isConsole && <ChangeStatus application={application} />}</IfPermitted>
      <IfPermitted operation="applications.delete">
        {!isConsole && (
          <Button variant="danger" onClick={deletion.open}>
            {t('delete.action')}
          </Button>
        )}
      </IfPermitted>
      <Dialog title={t('rotate.title')} isOpen={isRotating} onClose={rotation.close}>
        <RotateForm application={application} onClose={rotation.close} />
      </Dialog>
      <DeleteApplicationDialog application={application} isOpen={isDeleting} onClose={deletion.close} />
    </>
  );
}

function ChangeStatus({ application: { id, status } }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const isActive = status === 'active';
  const change = useApiMutation(mutations.applications.update(id), {
    changes: ['applications'],
    doneMessage: t(isActive ? 'disable.done' : 'enable.done'),
  });
  return (
    <Button
      variant={isActive ? 'danger' : 'default'}
      loading={change.isPending}
      onClick={() => change.mutate({ status: isActive ? 'disabled' : 'active' })}
    >
      {t(isActive ? 'disable.action' : 'enable.action')}
    </Button>
  );
}

type FormProps = Props & { readonly onClose: () => void };

/** Periods for which the previous secret can remain valid, in seconds. */
const overlaps = { none: 0, hour: 3_600, day: 86_400, week: 604_800 } as const;

function RotateForm({ application, onClose }: FormProps): ReactNode {
  const t = useApplicationsTranslations();
  const format = useFormat();
  const [overlap, setOverlap] = useState('day');
  const rotate = useApiMutation(mutations.applications.rotateSecret(application.id), {
    changes: ['applications'],
    doneMessage: t('rotate.done'),
  });
  if (rotate.data)
    return (
      <SecretShownOnce label={t('secret.title')} secret={rotate.data.client_secret} onDone={onClose}>
        <p>{t('rotate.previous', { time: format.dateTime(rotate.data.previous_secret_expires_at) })}</p>
      </SecretShownOnce>
    );
  const seconds = Object.entries(overlaps).find(([name]) => name === overlap)?.[1] ?? overlaps.day;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate({ overlap_seconds: seconds });
      }}
    >
      <NativeSelect
        label={t('rotate.overlap')}
        value={overlap}
        onChange={(event) => setOverlap(event.currentTarget.value)}
        data={(['none', 'hour', 'day', 'week'] as const).map((value) => ({ value, label: t(`overlap.${value}`) }))}
      />
      <ErrorNotice error={rotate.error} />
      <FormActions submit={t('rotate.action')} isDangerous isPending={rotate.isPending} onCancel={onClose} />
    </form>
  );
}

function DeleteApplicationDialog({ application, isOpen, onClose }: FormProps & { readonly isOpen: boolean }): ReactNode {
  const t = useApplicationsTranslations();
  const navigate = useNavigate();
  return (
    <DeleteDialog
      mutation={mutations.applications.delete(application.id)}
      changes={[]}
      doneMessage={t('delete.done')}
      onDone={() => void navigate('/applications', { replace: true })}
      title={t('delete.title', { name: application.name })}
      text={t('delete.about')}
      action={t('delete.action')}
      isOpen={isOpen}
      onClose={onClose}
    />
  );
}
