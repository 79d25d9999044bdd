import { useSettingsTranslations } from '../use-settings-translations.ts';

const fieldNames = [
  'slug',
  'issuer',
  'name',
  'client_id',
  'token_endpoint_auth_method',
  'client_secret',
  'private_key',
  'key_id',
  'team_id',
  'scopes',
  'button_label',
  'audience',
  'email_domain',
  'creates_accounts',
  'two_factor_values',
  'required_for_staff',
  'break_glass_user_id',
] as const;

/** JSON Pointers of the fields next to which the forms show errors. */
export const providerFormErrorPointers = fieldNames.map((name) => `#/${name}`);

/** Returns functions that describe a field of a provider: its name, and its value in `fields`. */
export function useProviderFieldFormatters() {
  const t = useSettingsTranslations();
  return {
    name: (field: string): string => t.value('provider', field),
    value: (fields: object, field: string): string | null => {
      const value: unknown = Object.entries(fields).find(([name]) => name === field)?.[1] ?? null;
      if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
      const text = Array.isArray(value) ? value.join(' ') : value;
      if (typeof text === 'number') return String(text);
      if (typeof text !== 'string') return null;
      if (field === 'audience') return t.value('audience', text);
      return field === 'token_endpoint_auth_method' ? t.value('authentication', text) : text;
    },
  };
}
