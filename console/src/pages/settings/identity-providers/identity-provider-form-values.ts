import type { IdentityProvider, IdentityProviderCreate, IdentityProviderUpdate } from '@mandate/client-sdk';

export const providerPresetNames = ['google', 'apple', 'microsoft', 'oidc'] as const satisfies readonly IdentityProviderCreate['preset'][];
export type ProviderPreset = (typeof providerPresetNames)[number];

export const providerUserGroups = ['everyone', 'customers', 'staff'] as const satisfies readonly IdentityProvider['audience'][];

/** Methods that the server can use to authenticate to providers other than Apple. */
export const selectableTokenEndpointAuthMethods = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const satisfies readonly IdentityProvider['token_endpoint_auth_method'][];

/** Values of the form. Lists are space-separated strings; an empty string means that there is no value. */
export type IdentityProviderValues = {
  readonly preset: ProviderPreset;
  readonly slug: string;
  readonly issuer: string;
  readonly name: string;
  readonly client_id: string;
  readonly token_endpoint_auth_method: IdentityProvider['token_endpoint_auth_method'];
  /** New client secret; the API never returns the stored one. */
  readonly client_secret: string;
  /** New private key; the API never returns the stored one. */
  readonly private_key: string;
  readonly key_id: string;
  readonly team_id: string;
  readonly scopes: string;
  readonly button_label: string;
  readonly audience: IdentityProvider['audience'];
  readonly email_domain: string;
  readonly creates_accounts: boolean;
  readonly two_factor_values: string;
  readonly required_for_staff: boolean;
  readonly break_glass_user_id: string;
};

type PresetValues = Pick<IdentityProviderValues, 'slug' | 'name' | 'token_endpoint_auth_method'>;

const valuesOfPresets: Readonly<Record<ProviderPreset, PresetValues>> = {
  google: { slug: 'google', name: 'Google', token_endpoint_auth_method: 'client_secret_basic' },
  apple: { slug: 'apple', name: 'Apple', token_endpoint_auth_method: 'apple_client_secret' },
  microsoft: { slug: 'microsoft', name: 'Microsoft', token_endpoint_auth_method: 'client_secret_post' },
  oidc: { slug: '', name: '', token_endpoint_auth_method: 'client_secret_basic' },
};

/** Whether the administrator must enter the issuer. The server knows the issuers of Google and Apple. */
export const requiresIssuer = (preset: string): boolean => preset === 'microsoft' || preset === 'oidc';

/** Whether the server authenticates with a private key instead of a client secret. */
export const usesPrivateKey = (method: IdentityProvider['token_endpoint_auth_method']): boolean =>
  method === 'private_key_jwt' || method === 'apple_client_secret';

/** Returns the values of a new provider. */
export const initialValuesFromPreset = (preset: ProviderPreset): IdentityProviderValues => ({
  preset,
  issuer: '',
  client_id: '',
  client_secret: '',
  private_key: '',
  key_id: '',
  team_id: '',
  scopes: '',
  button_label: '',
  audience: 'everyone',
  email_domain: '',
  creates_accounts: false,
  two_factor_values: '',
  required_for_staff: false,
  break_glass_user_id: '',
  ...valuesOfPresets[preset],
});

/** Returns the values of an existing provider. */
export const formValuesFromProvider = (provider: IdentityProvider): IdentityProviderValues => ({
  preset: providerPresetNames.find((name) => name === provider.preset) ?? 'oidc',
  slug: provider.slug,
  issuer: provider.issuer,
  name: provider.name,
  client_id: provider.client_id,
  token_endpoint_auth_method: provider.token_endpoint_auth_method,
  client_secret: '',
  private_key: '',
  key_id: provider.key_id ?? '',
  team_id: provider.team_id ?? '',
  scopes: provider.scopes.join(' '),
  button_label: provider.button_label ?? '',
  audience: provider.audience,
  email_domain: provider.email_domain ?? '',
  creates_accounts: provider.creates_accounts,
  two_factor_values: provider.two_factor_values.join(' '),
  required_for_staff: provider.required_for_staff,
  break_glass_user_id: String(provider.break_glass_user_id ?? ''),
});

const entriesOf = (text: string): string[] => text.split(/\s+/).filter((entry) => entry !== '');
const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** Returns the API fields, without credentials. Resets values that the other values make irrelevant. */
function fieldsOf(values: IdentityProviderValues) {
  const hasKey = usesPrivateKey(values.token_endpoint_auth_method);
  const isRequired = values.required_for_staff && values.audience !== 'customers';
  return {
    name: values.name.trim(),
    client_id: values.client_id.trim(),
    token_endpoint_auth_method: values.token_endpoint_auth_method,
    key_id: hasKey ? textOrNull(values.key_id) : null,
    team_id: values.token_endpoint_auth_method === 'apple_client_secret' ? textOrNull(values.team_id) : null,
    scopes: entriesOf(values.scopes),
    button_label: textOrNull(values.button_label),
    audience: values.audience,
    email_domain: textOrNull(values.email_domain.toLowerCase()),
    creates_accounts: values.creates_accounts && values.audience !== 'staff',
    two_factor_values: entriesOf(values.two_factor_values),
    required_for_staff: isRequired,
    break_glass_user_id: isRequired && values.break_glass_user_id !== '' ? Number(values.break_glass_user_id) : null,
  } satisfies IdentityProviderUpdate;
}

function credentialsOf(values: IdentityProviderValues): Pick<IdentityProviderUpdate, 'client_secret' | 'private_key'> {
  if (usesPrivateKey(values.token_endpoint_auth_method))
    return values.private_key.trim() === '' ? {} : { private_key: values.private_key.trim() };
  return values.client_secret.trim() === '' ? {} : { client_secret: values.client_secret.trim() };
}

/** Returns the request that adds a provider. The server determines the fields that the form for a new provider does not show. */
export function providerCreateFromValues(values: IdentityProviderValues): IdentityProviderCreate {
  const { scopes: _scopes, two_factor_values: _twoFactorValues, ...fields } = fieldsOf(values);
  return {
    preset: values.preset,
    slug: values.slug.trim(),
    ...(requiresIssuer(values.preset) && { issuer: values.issuer.trim() }),
    ...fields,
    ...credentialsOf(values),
  };
}

/** Returns the fields that the user has changed, and new credentials. */
export function providerUpdateFromValues(provider: IdentityProvider, values: IdentityProviderValues): IdentityProviderUpdate {
  const saved: Readonly<Record<string, unknown>> = fieldsOf(formValuesFromProvider(provider));
  const changed = Object.entries(fieldsOf(values)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(saved[name]));
  return { ...Object.fromEntries(changed), ...credentialsOf(values) };
}

/** Whether all values that the API requires are present. */
export function hasAllRequiredValues(values: IdentityProviderValues, isNew: boolean): boolean {
  const required = [values.name, values.client_id, values.slug];
  if (isNew && requiresIssuer(values.preset)) required.push(values.issuer);
  if (usesPrivateKey(values.token_endpoint_auth_method)) required.push(values.key_id);
  if (values.token_endpoint_auth_method === 'apple_client_secret') required.push(values.team_id);
  if (values.required_for_staff && values.audience !== 'customers') required.push(values.break_glass_user_id);
  if (isNew) required.push(usesPrivateKey(values.token_endpoint_auth_method) ? values.private_key : values.client_secret);
  return required.every((text) => text.trim() !== '');
}
