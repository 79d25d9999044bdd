import { Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';
import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import { providerUserGroups } from './identity-provider-form-values.ts';
import type { ProviderFieldsProps } from './client-registration-fields.tsx';
import { useProviderTextFieldProps } from './use-provider-text-field-props.ts';

/** Fields that specify which users can sign in through the provider, and under which conditions. */
export function ProviderSignInConditionFields(props: ProviderFieldsProps): ReactNode {
  const { values, isNew, error, onChange } = props;
  const t = useSettingsTranslations();
  const fieldOf = useProviderTextFieldProps(props);
  return (
    <>
      <NativeSelect
        label={t('provider.audience')}
        value={values.audience}
        error={findFieldErrorDetail(error, '#/audience')}
        data={providerUserGroups.map((value) => ({ value, label: t(`audience.${value}`) }))}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...values, audience: providerUserGroups.find((name) => name === value) ?? values.audience })
        }
      />
      {values.audience !== 'staff' && (
        <Checkbox
          label={t('provider.creates_accounts')}
          description={t('provider.createsAccountsAbout')}
          checked={values.creates_accounts}
          error={findFieldErrorDetail(error, '#/creates_accounts')}
          onChange={(event) => onChange({ ...values, creates_accounts: event.currentTarget.checked })}
        />
      )}
      {values.audience !== 'customers' && <StaffFields {...props} />}
      <TextInput {...fieldOf('email_domain')} description={t('provider.emailDomainAbout')} placeholder="shop.example" maxLength={253} />
      <TextInput {...fieldOf('button_label')} description={t('provider.buttonLabelAbout')} maxLength={60} />
      {!isNew && (
        <>
          <TextInput {...fieldOf('scopes')} description={t('provider.scopesAbout')} required />
          <TextInput {...fieldOf('two_factor_values')} description={t('provider.twoFactorAbout')} />
        </>
      )}
    </>
  );
}

function StaffFields(props: ProviderFieldsProps): ReactNode {
  const { values, error, onChange } = props;
  const t = useSettingsTranslations();
  const administrators = useAdministrators(values.break_glass_user_id);
  return (
    <>
      <Checkbox
        label={t('provider.required_for_staff')}
        description={t('provider.requiredForStaffAbout')}
        checked={values.required_for_staff}
        error={findFieldErrorDetail(error, '#/required_for_staff')}
        onChange={(event) => onChange({ ...values, required_for_staff: event.currentTarget.checked })}
      />
      {values.required_for_staff && (
        <NativeSelect
          label={t('provider.break_glass_user_id')}
          description={t('provider.breakGlassAbout')}
          required
          value={values.break_glass_user_id}
          error={findFieldErrorDetail(error, '#/break_glass_user_id')}
          data={[{ value: '', label: t('provider.chooseAdministrator') }, ...administrators]}
          onChange={(event) => onChange({ ...values, break_glass_user_id: event.currentTarget.value })}
        />
      )}
    </>
  );
}

type Choice = { readonly value: string; readonly label: string };

/** Returns the active administrators, or only the signed-in one if the token does not permit listing users. `selected` is always included. */
function useAdministrators(selected: string): Choice[] {
  const { user, can } = usePermissions();
  const { data } = useQuery({ ...queries.users.list({ role: ['admin'], status: ['active'], limit: 100 }), enabled: can('users.list') });
  const listed = data?.data ?? (user?.role === 'admin' ? [user] : []);
  const choices = listed.map(({ id, name, email }) => ({ value: String(id), label: `${name} (${email})` }));
  const isListed = selected === '' || choices.some(({ value }) => value === selected);
  return isListed ? choices : [...choices, { value: selected, label: selected }];
}
