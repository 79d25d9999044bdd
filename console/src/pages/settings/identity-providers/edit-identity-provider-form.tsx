import type { IdentityProvider, IdentityProviderUpdate } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { client } from '../../../api/client.ts';
import { ActionError } from '../../../components/feedback/action-error.tsx';
import { ConflictDifference } from '../../../components/forms/conflict-difference.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useConditionalUpdate } from '../../../components/forms/use-conditional-update.ts';
import { useSettingsMessages } from '../use-settings-messages.ts';
import classes from '../settings.module.css';
import { AccessFields } from './access-fields.tsx';
import { fieldPointers, useDescribeField } from './describe-field.ts';
import { isComplete, listChanges, valuesOfProvider } from './identity-provider-values.ts';
import { ProviderLogo } from './provider-logo.tsx';
import { ProviderUrls } from './provider-urls.tsx';
import { RegistrationFields } from './registration-fields.tsx';

type Props = { readonly provider: IdentityProvider; readonly onClose: () => void };

/** Changes a provider. The stored credential is not shown, and is kept unless a new one is entered. */
export function EditIdentityProviderForm({ provider, onClose }: Props): ReactNode {
  const t = useSettingsMessages();
  const describeField = useDescribeField();
  // The version that the user saw. It does not change when the list is fetched again.
  const [seen] = useState(provider);
  const [values, setValues] = useState(valuesOfProvider(provider));
  const update = useConditionalUpdate<IdentityProvider, IdentityProviderUpdate>({
    read: () => client.identityProviders.get(provider.id).withResponse(),
    write: (changes, ifMatch) => client.identityProviders.update(provider.id, changes, { ifMatch }),
    changes: ['identityProviders'],
    doneMessage: t('provider.saved'),
    onDone: onClose,
  });
  const { conflict, error, isPending } = update;
  const changes = listChanges(seen, values);
  const fields = { values, isNew: false, error, onChange: setValues };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.save(seen, changes);
      }}
    >
      <div className={classes['fields']}>
        <RegistrationFields {...fields} />
        <AccessFields {...fields} />
        <ProviderLogo provider={provider} />
        <ProviderUrls provider={provider} />
        <ActionError error={error} fields={fieldPointers} />
        {conflict && (
          <ConflictDifference
            differences={conflict.fields.map((field) => ({
              field: describeField.name(field),
              theirs: describeField.value(conflict.current, field),
              yours: describeField.value(conflict.changes, field),
            }))}
            isSaving={isPending}
            onKeepTheirs={onClose}
            onOverwrite={update.overwrite}
          />
        )}
      </div>
      {!conflict && (
        <FormActions
          submit={t('save')}
          isPending={isPending}
          isDisabled={Object.keys(changes).length === 0 || !isComplete(values, false)}
          onCancel={onClose}
        />
      )}
    </form>
  );
}
