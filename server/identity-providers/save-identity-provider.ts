import type { IdentityProvider, IdentityProviderCreate, IdentityProviderUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { getViolatedConstraint } from '../database/errors/sql-error-fields.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import {
  logoColumnsFromImage,
  logoContentFromColumns,
  logoContentFindOptions,
  logoFromColumns,
  apiLogoFromStoredLogo,
  type LogoContent,
} from '../logos/logo-columns.ts';
import type { LogoImage } from '../logos/parse-logo-image.ts';
import { User } from '../users/user.entity.ts';
import { encryptIdentityProviderCredential } from './identity-provider-credential.ts';
import {
  findIdentityProviderSettingErrors,
  type GivenCredentials,
  type IdentityProviderFields,
} from './find-identity-provider-setting-errors.ts';
import { identityProviderDefaultsByPreset } from './identity-provider-defaults-by-preset.ts';
import { IdentityProviderEntity, type IdentityProviderRow } from './identity-provider.entity.ts';

export type IdentityProviderDependencies = {
  /** Encryption key for the client secrets and private keys. */
  readonly identityProviderKey: Buffer;
  /** Whether issuers on this machine may use HTTP. */
  readonly development: boolean;
  /** Public URL of the server, for the redirect URI. */
  readonly issuer: string;
};

/** Creates a provider; requires a transaction. */
export async function createIdentityProvider(
  em: EntityManager,
  body: IdentityProviderCreate,
  { identityProviderKey, development }: IdentityProviderDependencies,
): Promise<IdentityProviderRow> {
  const { slug, preset, client_id: clientId } = body;
  const defaults = identityProviderDefaultsByPreset[preset];
  const issuer = body.issuer ?? defaults.issuer;
  if (issuer === undefined) throw invalidField('issuer', `Must be set for the preset ${preset}.`);
  const row = {
    slug,
    preset,
    issuer,
    name: defaults.name,
    tokenEndpointAuthMethod: defaults.tokenEndpointAuthMethod,
    keyId: null,
    teamId: null,
    scopes: [...defaults.scopes],
    buttonLabel: null,
    audience: 'everyone' as const,
    emailDomain: null,
    createsAccounts: false,
    twoFactorValues: ['mfa'],
    requiredForStaff: false,
    breakGlassUser: null,
    status: 'enabled' as const,
    ...changedColumns(body),
    clientId,
  };
  await assertFieldsValid(em, row, body, undefined, development);
  const credential = body.private_key ?? body.client_secret ?? '';
  const sealedCredential = encryptIdentityProviderCredential(credential, slug, identityProviderKey);
  const provider = em.create(IdentityProviderEntity, { ...row, sealedCredential });
  await em.persist(provider).flush().catch(rethrowUniqueViolationAsConflict);
  return provider;
}

/** Applies a merge patch (RFC 7396) to a locked provider. An update that changes nothing does not increment the version. */
export async function updateIdentityProvider(
  em: EntityManager,
  provider: IdentityProviderRow,
  body: IdentityProviderUpdate,
  { identityProviderKey, development }: IdentityProviderDependencies,
): Promise<void> {
  const changes = changedColumns(body);
  await assertFieldsValid(em, { ...provider, ...changes }, body, provider.tokenEndpointAuthMethod, development);
  const credential = body.private_key ?? body.client_secret;
  em.assign(provider, {
    ...changes,
    ...(credential !== undefined && {
      sealedCredential: encryptIdentityProviderCredential(credential, provider.slug, identityProviderKey),
    }),
  });
  await em.flush();
}

/**
 * Replaces the logo of a locked provider, or deletes the logo if `logo` is null. If the image stays the same, the version is not
 * incremented.
 */
export async function setIdentityProviderLogo(em: EntityManager, provider: IdentityProviderRow, logo: LogoImage | null): Promise<void> {
  if ((provider.logoHash ?? null) === (logo?.hash ?? null)) return;
  em.assign(provider, logoColumnsFromImage(logo));
  await em.flush();
}

/** Reads the logo with this hash; undefined if no provider has this logo. */
export const readIdentityProviderLogoByHash = async (em: EntityManager, hash: string): Promise<LogoContent | undefined> =>
  logoContentFromColumns(await em.findOne(IdentityProviderEntity, { logoHash: hash }, logoContentFindOptions));

/** Returns the column values for the fields in a request. */
function changedColumns(body: IdentityProviderUpdate) {
  const columns = {
    name: body.name,
    clientId: body.client_id,
    tokenEndpointAuthMethod: body.token_endpoint_auth_method,
    keyId: body.key_id,
    teamId: body.team_id,
    scopes: body.scopes,
    buttonLabel: body.button_label,
    audience: body.audience,
    emailDomain: body.email_domain,
    createsAccounts: body.creates_accounts,
    twoFactorValues: body.two_factor_values,
    requiredForStaff: body.required_for_staff,
    breakGlassUser: body.break_glass_user_id,
    status: body.status,
  };
  return omitUndefined(columns);
}

type Defined<Values> = { [Key in keyof Values]?: Exclude<Values[Key], undefined> };

const omitUndefined = <Values extends object>(values: Values): Defined<Values> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries() does not keep the types of the values
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<Values>;

async function assertFieldsValid(
  em: EntityManager,
  fields: IdentityProviderFields,
  given: GivenCredentials,
  storedMethod: IdentityProviderRow['tokenEndpointAuthMethod'] | undefined,
  development: boolean,
): Promise<void> {
  const errors = [...findIdentityProviderSettingErrors(fields, given, storedMethod, development)];
  const { breakGlassUser: id } = fields;
  if (id != null && (await em.count(User, { id, role: 'admin', status: 'active' })) === 0)
    errors.push({ field: 'break_glass_user_id', detail: 'There is no active administrator with this ID.' });
  if (errors.length === 0) return;
  throw createInvalidRequestProblem(
    ...errors.map(({ field, detail }) => ({ in: 'body' as const, pointer: `#/${field}`, code: 'invalid_value', detail })),
  );
}

const invalidField = (field: string, detail: string) =>
  createInvalidRequestProblem({ in: 'body', pointer: `#/${field}`, code: 'invalid_value', detail });

function rethrowUniqueViolationAsConflict(error: unknown): never {
  const constraint = getViolatedConstraint(error);
  const field = constraint === 'identity_providers_slug_unique' ? 'slug' : 'issuer';
  if (field === 'issuer' && constraint !== 'identity_providers_issuer_unique') throw error;
  const detail = `Another identity provider already has this ${field}.`;
  throw createProblem('conflict', { detail, errors: [{ in: 'body', pointer: `#/${field}`, code: 'not_unique', detail }], cause: error });
}

/** Path of a provider's pages, relative to the server's URL. */
export const getIdentityProviderEndpointsBasePath = (slug: string): string => `/sign-in/providers/${slug}`;

/** Returns a provider's API representation, which contains no credential. */
export const identityProviderFromEntity = (row: IdentityProviderRow, issuer: string): IdentityProvider => ({
  id: row.id,
  slug: row.slug,
  preset: row.preset,
  name: row.name,
  issuer: row.issuer,
  client_id: row.clientId,
  token_endpoint_auth_method: row.tokenEndpointAuthMethod,
  key_id: row.keyId ?? null,
  team_id: row.teamId ?? null,
  scopes: row.scopes,
  button_label: row.buttonLabel ?? null,
  logo: apiLogoFromStoredLogo(logoFromColumns(row), issuer),
  audience: row.audience,
  email_domain: row.emailDomain ?? null,
  creates_accounts: row.createsAccounts,
  two_factor_values: row.twoFactorValues,
  required_for_staff: row.requiredForStaff,
  break_glass_user_id: row.breakGlassUser ?? null,
  status: row.status,
  redirect_uri: `${issuer}${getIdentityProviderEndpointsBasePath(row.slug)}/callback`,
  backchannel_logout_uri: `${issuer}${getIdentityProviderEndpointsBasePath(row.slug)}/logout`,
  version: row.version,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});
