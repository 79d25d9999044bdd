import { Checkbox, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { SecretShownOnce } from '../../../components/forms/secret-shown-once.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useDevelopersTranslations } from '../use-developers-translations.ts';

type Props = { readonly endpointId: number; readonly onClose: () => void };

/** Creates a new signing secret, and then shows the secret. */
export function RotateSecretForm({ endpointId, onClose }: Props): ReactNode {
  const t = useDevelopersTranslations();
  const [isImmediate, setIsImmediate] = useState(false);
  const rotate = useApiMutation(mutations.webhooks.rotateSecret(endpointId), { changes: ['webhooks'], doneMessage: t('secret.rotated') });
  if (rotate.data) return <SecretShownOnce label={t('endpoint.secret')} secret={rotate.data.secret} onDone={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate(isImmediate ? { overlap_seconds: 0 } : {});
      }}
    >
      <Stack gap="md">
        <p>{t('secret.rotateAbout')}</p>
        <Checkbox label={t('secret.immediate')} checked={isImmediate} onChange={(event) => setIsImmediate(event.currentTarget.checked)} />
        <ErrorNotice error={rotate.error} />
      </Stack>
      <FormActions submit={t('secret.rotate')} isDangerous isPending={rotate.isPending} onCancel={onClose} />
    </form>
  );
}
