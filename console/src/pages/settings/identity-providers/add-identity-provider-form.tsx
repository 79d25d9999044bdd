import { Button, NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { ActionError } from '../../../components/feedback/action-error.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useAction } from '../../../components/forms/use-action.ts';
import { useSettingsMessages } from '../use-settings-messages.ts';
import classes from '../settings.module.css';
import { AccessFields } from './access-fields.tsx';
import { fieldPointers } from './describe-field.ts';
import { createRequest, isComplete, presets, valuesOfPreset } from './identity-provider-values.ts';
import { ProviderUrls } from './provider-urls.tsx';
import { RegistrationFields } from './registration-fields.tsx';

/** Adds a provider from a preset, and then shows the URLs to register with the provider. */
export function AddIdentityProviderForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useSettingsMessages();
  const [values, setValues] = useState(valuesOfPreset('google'));
  const add = useAction(mutations.identityProviders.create(), { changes: ['identityProviders'], doneMessage: t('provider.added') });
  const { error, isPending, data: provider } = add;
  if (provider)
    return (
      <div className={classes['fields']}>
        <p>{t('provider.registerUrls', { name: provider.name })}</p>
        <ProviderUrls provider={provider} />
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
        add.mutate(createRequest(values));
      }}
    >
      <div className={classes['fields']}>
        <NativeSelect
          data-autofocus
          label={t('provider.preset')}
          value={values.preset}
          data={presets.map((value) => ({ value, label: t(`preset.${value}`) }))}
          onChange={({ currentTarget: { value } }) => setValues(valuesOfPreset(presets.find((name) => name === value) ?? values.preset))}
        />
        <RegistrationFields {...fields} />
        <AccessFields {...fields} />
        <ActionError error={error} fields={fieldPointers} />
      </div>
      <FormActions submit={t('provider.add')} isPending={isPending} isDisabled={!isComplete(values, true)} onCancel={onClose} />
    </form>
  );
}
