import { NativeSelect, PasswordInput, TextInput, Textarea } from '@mantine/core';
import '@mantine/core/styles/PasswordInput.layer.css';
import type { ReactNode } from 'react';
import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import {
  selectableTokenEndpointAuthMethods,
  requiresIssuer,
  usesPrivateKey,
  type IdentityProviderValues,
} from './identity-provider-form-values.ts';
import { useProviderTextFieldProps } from './use-provider-text-field-props.ts';

export type ProviderFieldsProps = {
  readonly values: IdentityProviderValues;
  readonly isNew: boolean;
  readonly error: unknown;
  readonly onChange: (values: IdentityProviderValues) => void;
};

/** Fields for the shop's registration with the provider, including the credential. */
export function ClientRegistrationFields(props: ProviderFieldsProps): ReactNode {
  const { values, isNew } = props;
  const t = useSettingsTranslations();
  const fieldOf = useProviderTextFieldProps(props);
  return (
    <>
      {isNew && (
        <TextInput {...fieldOf('slug')} description={t('provider.slugAbout')} required maxLength={40} pattern="[a-z0-9][a-z0-9\-]*" />
      )}
      {isNew && requiresIssuer(values.preset) && (
        <TextInput
          {...fieldOf('issuer')}
          description={t(values.preset === 'microsoft' ? 'provider.microsoftIssuerAbout' : 'provider.issuerAbout')}
          placeholder={values.preset === 'microsoft' ? 'https://login.microsoftonline.com/TENANT_ID/v2.0' : 'https://'}
          required
          maxLength={500}
        />
      )}
      <TextInput {...fieldOf('name')} required maxLength={60} />
      <TextInput {...fieldOf('client_id')} required maxLength={200} />
      {values.preset !== 'apple' && <MethodField {...props} />}
      {usesPrivateKey(values.token_endpoint_auth_method) ? <PrivateKeyFields {...props} /> : <SecretField {...props} />}
    </>
  );
}

function MethodField({ values, error, onChange }: ProviderFieldsProps): ReactNode {
  const t = useSettingsTranslations();
  return (
    <NativeSelect
      label={t('provider.token_endpoint_auth_method')}
      value={values.token_endpoint_auth_method}
      error={findFieldErrorDetail(error, '#/token_endpoint_auth_method')}
      data={selectableTokenEndpointAuthMethods.map((value) => ({ value, label: t(`authentication.${value}`) }))}
      onChange={({ currentTarget: { value } }) => {
        const method = selectableTokenEndpointAuthMethods.find((name) => name === value);
        if (method) onChange({ ...values, token_endpoint_auth_method: method });
      }}
    />
  );
}

function SecretField(props: ProviderFieldsProps): ReactNode {
  const t = useSettingsTranslations();
  return (
    <PasswordInput
      {...useProviderTextFieldProps(props)('client_secret')}
      description={props.isNew ? undefined : t('provider.keepsCredential')}
      required={props.isNew}
      maxLength={1000}
      autoComplete="off"
      visibilityToggleButtonProps={{ 'aria-label': t('provider.showSecret') }}
    />
  );
}

function PrivateKeyFields(props: ProviderFieldsProps): ReactNode {
  const t = useSettingsTranslations();
  const fieldOf = useProviderTextFieldProps(props);
  return (
    <>
      <Textarea
        {...fieldOf('private_key')}
        description={t(props.isNew ? 'provider.privateKeyAbout' : 'provider.keepsCredential')}
        placeholder="-----BEGIN PRIVATE KEY-----"
        required={props.isNew}
        maxLength={8000}
        rows={4}
        autoComplete="off"
      />
      <TextInput {...fieldOf('key_id')} required maxLength={200} />
      {props.values.preset === 'apple' && <TextInput {...fieldOf('team_id')} required maxLength={200} />}
    </>
  );
}
