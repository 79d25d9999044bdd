import type { WebhookEndpoint, WebhookEndpointCreate } from '@mandate/client-sdk';
import { Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { apiClient } from '../../../api/client.ts';
import { ConflictDifference, type FieldDifference } from '../../../components/forms/conflict-difference.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useUpdateWithConflictDetection } from '../../../components/forms/use-update-with-conflict-detection.ts';
import { useDevelopersTranslations, type DevelopersTranslate } from '../use-developers-translations.ts';
import { EndpointFields, endpointBodyFromValues, endpointFormErrorPointers, type EndpointValues } from './endpoint-fields.tsx';

type Props = { readonly endpoint: WebhookEndpoint; readonly onClose: () => void };

export function EditEndpointForm({ endpoint, onClose }: Props): ReactNode {
  const t = useDevelopersTranslations();
  const { id } = endpoint;
  // The version that the user saw when the form was opened. The page refetches the endpoint while the form is open.
  const [seen] = useState(endpoint);
  const [values, setValues] = useState<EndpointValues>(valuesOf(endpoint));
  const update = useUpdateWithConflictDetection<WebhookEndpoint, WebhookEndpointCreate>({
    read: () => apiClient.webhooks.get(id).withResponse(),
    write: (changes, ifMatch) => apiClient.webhooks.update(id, changes, { ifMatch }),
    changes: ['webhooks'],
    doneMessage: t('endpoint.saved'),
    onDone: onClose,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.save(seen, endpointBodyFromValues(values));
      }}
    >
      <Stack gap="md">
        <EndpointFields values={values} error={update.error} onChange={setValues} />
        <ErrorNotice error={update.error} fields={endpointFormErrorPointers} />
        {update.conflict && (
          <ConflictDifference
            differences={listDifferences(valuesOf(update.conflict.current), values, t)}
            isSaving={update.isPending}
            onKeepTheirs={onClose}
            onOverwrite={update.overwrite}
          />
        )}
      </Stack>
      {!update.conflict && (
        <FormActions submit={t('save')} isPending={update.isPending} isDisabled={values.events.length === 0} onCancel={onClose} />
      )}
    </form>
  );
}

const valuesOf = ({ url, events, description }: WebhookEndpoint): EndpointValues => ({ url, events, description: description ?? '' });

const listDifferences = (theirs: EndpointValues, yours: EndpointValues, t: DevelopersTranslate): FieldDifference[] =>
  (['url', 'events', 'description'] as const)
    .map((name) => ({ field: t(`endpoint.${name}`), theirs: [theirs[name]].flat().join(', '), yours: [yours[name]].flat().join(', ') }))
    .filter((difference) => difference.theirs !== difference.yours);
