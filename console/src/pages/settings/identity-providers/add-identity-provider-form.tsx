import { Button, NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ErrorOrSignInAgainNotice } from '../../../components/feedback/error-or-sign-in-again-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { ProviderSignInConditionFields } from './provider-sign-in-condition-fields.tsx';
import { providerFormErrorPointers } from './use-provider-field-formatters.ts';
import {
  providerCreateFromValues,
  hasAllRequiredValues,
  providerPresetNames,
  initialValuesFromPreset,
} from './identity-provider-form-values.ts';
import { UrlsToRegisterAtProvider } from './urls-to-register-at-provider.tsx';
import { ClientRegistrationFields } from './client-registration-fields.tsx';

/** Adds a provider from a preset, and then shows the URLs to register with the provider. */
export function AddIdentityProviderForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useSettingsTranslations();
  const [values, setValues] = useState(initialValuesFromPreset('google'));
  const add = useApiMutation(mutations.identityProviders.create(), { changes: ['identityProviders'], doneMessage: t('provider.added') });
  const { error, isPending, data: provider } = add;
  if (provider)
    return (
      <div className={classes['fields']}>
        <p>{t('provider.registerUrls', { name: provider.name })}</p>
        <UrlsToRegisterAtProvider provider={provider} />
        <div className={classes['end']}>
          <Button onClick={onClose}>{t('provider.done')}</Button>
        </div>
      </div>
    );
  const fields = { values, isNew: true, error, onChange: setValues };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(providerCreateFromValues(values));
      }}
    >
      <div className={classes['fields']}>
        <NativeSelect
          data-autofocus
          label={t('provider.preset')}
          value={values.preset}
          data={providerPresetNames.map((value) => ({ value, label: t(`preset.${value}`) }))}
          onChange={({ currentTarget: { value } }) =>
            setValues(initialValuesFromPreset(providerPresetNames.find((name) => name === value) ?? values.preset))
          }
        />
        <ClientRegistrationFields {...fields} />
        <ProviderSignInConditionFields {...fields} />
        <ErrorOrSignInAgainNotice error={error} fields={providerFormErrorPointers} />
      </div>
      <FormActions submit={t('provider.add')} isPending={isPending} isDisabled={!hasAllRequiredValues(values, true)} onCancel={onClose} />
    </form>
  );
}
