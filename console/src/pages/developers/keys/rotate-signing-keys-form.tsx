import { Button, Checkbox, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorOrSignInAgainNotice } from '../../../components/feedback/error-or-sign-in-again-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useDevelopersTranslations } from '../use-developers-translations.ts';

export function RotateSigningKeysForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useDevelopersTranslations();
  const format = useFormat();
  const queryClient = useQueryClient();
  const [isImmediate, setIsImmediate] = useState(false);
  const rotate = useApiMutation(mutations.signingKeys.rotate(), {
    changes: ['auditEvents'],
    doneMessage: t('signingKey.rotated'),
    onDone: () => void queryClient.invalidateQueries({ queryKey: ['signing keys'] }),
  });
  if (rotate.data) {
    const { made, signs_from: from, previous_retire_at: until } = rotate.data;
    return (
      <>
        <p>
          {made === 0
            ? t('signingKey.alreadyRotated', { from: format.dateTime(from) })
            : t('signingKey.result', { count: made, from: format.dateTime(from), until: format.dateTime(until) })}
        </p>
        <Button mt="md" onClick={onClose}>
          {t('done')}
        </Button>
      </>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate(isImmediate ? { at_once: true } : {});
      }}
    >
      <Stack gap="md">
        <p>{t('signingKey.rotateAbout')}</p>
        <Checkbox
          label={t('signingKey.immediate')}
          description={t('signingKey.immediateAbout')}
          checked={isImmediate}
          onChange={(event) => setIsImmediate(event.currentTarget.checked)}
        />
        <ErrorOrSignInAgainNotice error={rotate.error} />
      </Stack>
      <FormActions submit={t('signingKey.rotate')} isDangerous isPending={rotate.isPending} onCancel={onClose} />
    </form>
  );
}
