import type { WebhookEndpoint } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { client, mutations } from '../../../api/client.ts';
import { readVersioned, useEditConflict, type Versioned } from '../../../api/use-edit-conflict.ts';
import { ConflictDifference, type FieldDifference } from '../../../components/conflict-difference.tsx';
import { ErrorNotice } from '../../../components/error-notice.tsx';
import { FormActions } from '../../../components/form-actions.tsx';
import { useAction } from '../../../components/use-action.ts';
import { useDevelopersMessages, type DevelopersTranslate } from '../use-developers-messages.ts';
import { EndpointFields, endpointBody, endpointFields, type EndpointValues } from './endpoint-fields.tsx';

type Props = { readonly opened: Versioned<WebhookEndpoint>; readonly onClose: () => void };

export function EditEndpointForm({ opened, onClose }: Props): ReactNode {
  const t = useDevelopersMessages();
  const { id } = opened.data;
  const [values, setValues] = useState<EndpointValues>(valuesOf(opened.data));
  const conflict = useEditConflict(opened, () => readVersioned(client.webhooks.get(id)));
  const update = useAction(mutations.webhooks.update(id, { ifMatch: conflict.etag }), {
    changes: ['webhooks'],
    doneMessage: t('endpoint.saved'),
    onDone: onClose,
  });
  const save = (): void => update.mutate(endpointBody(values), { onError: (error) => void conflict.onError(error) });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <EndpointFields values={values} error={update.error} onChange={setValues} />
      {conflict.theirs ? (
        <ConflictDifference
          differences={listDifferences(valuesOf(conflict.theirs), values, t)}
          isSaving={update.isPending}
          onKeepTheirs={onClose}
          onOverwrite={save}
        />
      ) : (
        <>
          <ErrorNotice error={update.error} fields={endpointFields} />
          <FormActions submit={t('save')} isPending={update.isPending} isDisabled={values.events.length === 0} onCancel={onClose} />
        </>
      )}
    </form>
  );
}

const valuesOf = ({ url, events, description }: WebhookEndpoint): EndpointValues => ({ url, events, description: description ?? '' });

const listDifferences = (theirs: EndpointValues, yours: EndpointValues, t: DevelopersTranslate): FieldDifference[] =>
  (['url', 'events', 'description'] as const)
    .map((name) => ({ field: t(`endpoint.${name}`), theirs: [theirs[name]].flat().join(', '), yours: [yours[name]].flat().join(', ') }))
    .filter((difference) => difference.theirs !== difference.yours);
