import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import type { IdentityProviderValues } from './identity-provider-form-values.ts';

type Form = {
  readonly values: IdentityProviderValues;
  readonly error: unknown;
  readonly onChange: (values: IdentityProviderValues) => void;
};

type TextName = {
  [Name in keyof IdentityProviderValues]: IdentityProviderValues[Name] extends string
    ? string extends IdentityProviderValues[Name]
      ? Name
      : never
    : never;
}[keyof IdentityProviderValues];

/** Returns a function that creates the properties of a text field in the form. */
export function useProviderTextFieldProps({ values, error, onChange }: Form) {
  const t = useSettingsTranslations();
  return (name: TextName) => ({
    label: t(`provider.${name}`),
    value: values[name],
    error: findFieldErrorDetail(error, `#/${name}`),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => onChange({ ...values, [name]: event.currentTarget.value }),
  });
}
