import { Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { SecretShownOnce } from '../../../components/forms/secret-shown-once.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import { EndpointFields, endpointBodyFromValues, endpointFormErrorPointers } from './endpoint-fields.tsx';

/** Creates a webhook endpoint, and then shows its signing secret. */
export function CreateEndpointForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useDevelopersTranslations();
  const [values, setValues] = useState({ url: '', events: ['*'] as readonly string[], description: '' });
  const create = useApiMutation(mutations.webhooks.create(), { changes: ['webhooks'], doneMessage: t('endpoint.added') });
  if (create.data) return <SecretShownOnce label={t('endpoint.secret')} secret={create.data.secret} onDone={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(endpointBodyFromValues(values));
      }}
    >
      <Stack gap="md">
        <EndpointFields values={values} error={create.error} onChange={setValues} />
        <ErrorNotice error={create.error} fields={endpointFormErrorPointers} />
      </Stack>
      <FormActions
        submit={t('endpoint.add')}
        isPending={create.isPending}
        isDisabled={values.url.trim() === '' || values.events.length === 0}
        onCancel={onClose}
      />
    </form>
  );
}
