import type { IdentityProvider, IdentityProviderUpdate } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { apiClient } from '../../../api/client.ts';
import { ErrorOrSignInAgainNotice } from '../../../components/feedback/error-or-sign-in-again-notice.tsx';
import { ConflictDifference } from '../../../components/forms/conflict-difference.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useUpdateWithConflictDetection } from '../../../components/forms/use-update-with-conflict-detection.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { ProviderSignInConditionFields } from './provider-sign-in-condition-fields.tsx';
import { providerFormErrorPointers, useProviderFieldFormatters } from './use-provider-field-formatters.ts';
import { hasAllRequiredValues, providerUpdateFromValues, formValuesFromProvider } from './identity-provider-form-values.ts';
import { ProviderLogoUpload } from './provider-logo-upload.tsx';
import { UrlsToRegisterAtProvider } from './urls-to-register-at-provider.tsx';
import { ClientRegistrationFields } from './client-registration-fields.tsx';

type Props = { readonly provider: IdentityProvider; readonly onClose: () => void };

/** Form that changes a provider. The stored credential is not shown, and remains unchanged unless the user enters a new one. */
export function EditIdentityProviderForm({ provider, onClose }: Props): ReactNode {
  const t = useSettingsTranslations();
  const describeField = useProviderFieldFormatters();
  // The version that the user saw, which does not change when the list is refetched.
  const [seen] = useState(provider);
  const [values, setValues] = useState(formValuesFromProvider(provider));
  const update = useUpdateWithConflictDetection<IdentityProvider, IdentityProviderUpdate>({
    read: () => apiClient.identityProviders.get(provider.id).withResponse(),
    write: (changes, ifMatch) => apiClient.identityProviders.update(provider.id, changes, { ifMatch }),
    changes: ['identityProviders'],
    doneMessage: t('provider.saved'),
    onDone: onClose,
  });
  const { conflict, error, isPending } = update;
  const changes = providerUpdateFromValues(seen, values);
  const fields = { values, isNew: false, error, onChange: setValues };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.save(seen, changes);
      }}
    >
      <div className={classes['fields']}>
        <ClientRegistrationFields {...fields} />
        <ProviderSignInConditionFields {...fields} />
        <ProviderLogoUpload provider={provider} />
        <UrlsToRegisterAtProvider provider={provider} />
        <ErrorOrSignInAgainNotice error={error} fields={providerFormErrorPointers} />
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
          isDisabled={Object.keys(changes).length === 0 || !hasAllRequiredValues(values, false)}
          onCancel={onClose}
        />
      )}
    </form>
  );
}
