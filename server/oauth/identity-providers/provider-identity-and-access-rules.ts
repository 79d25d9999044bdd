import { contract, singleLineInputSchema } from '@mandate/contract';
import { z } from 'zod';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { oneFactorAcrValue, twoFactorAcrValue, type AuthenticationContext } from '../protocol/acr-and-amr.ts';

/** A user's account at a provider, as a verified ID token describes it. */
export type ProviderIdentity = {
  /** Issuer and subject identify the account. */
  readonly issuer: string;
  readonly subject: string;
  /** E-mail address that the provider has verified; undefined if the provider does not report a verified address. */
  readonly verifiedEmail: string | undefined;
  /** Name of the user; undefined if the provider does not specify a valid name. */
  readonly name: string | undefined;
  /** Text that helps the user recognize the account. */
  readonly label: string;
  readonly authentication: AuthenticationContext;
  /** Time of the authentication at the provider, in seconds since the Unix epoch; undefined if the provider does not specify this time. */
  readonly authenticatedAt: number | undefined;
  /** Refresh token for the account; undefined if the provider issued none. */
  readonly refreshToken: string | undefined;
};

const { email: validEmail, name: validName } = contract.users.create.body.shape;

const labelSchema = singleLineInputSchema(200);
const optionalText = z.string().optional().catch(undefined);
/**
 * Apple sends booleans as strings. Microsoft sends `xms_edov` only if the application is configured to receive this claim. The claim states
 * whether the owner of the e-mail domain has been verified.
 */
const booleanClaim = z
  .union([
    z.boolean(),
    z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1'),
    z.number().transform((one) => one === 1),
  ])
  .optional()
  .catch(undefined);
const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string().min(1).max(255),
  email: optionalText,
  email_verified: booleanClaim,
  xms_edov: booleanClaim,
  name: optionalText,
  acr: optionalText,
  amr: z.array(z.string()).catch([]),
  auth_time: z.number().int().positive().optional().catch(undefined),
});

/**
 * RFC 8176 authentication methods that are passed on to applications. `mfa` is not in this list, because this server itself determines
 * whether two factors were used.
 */
const knownMethods = new Set(
  ['face', 'fpt', 'geo', 'hwk', 'iris', 'kba', 'mca', 'otp', 'pin', 'pop', 'pwd', 'rba', 'retina', 'sc', 'sms', 'swk', 'tel', 'user', 'vbm', 'wia'], // prettier-ignore
);

/** `amr` value for a sign-in at an identity provider. */
const federatedMethod = 'fed';

/**
 * Converts the claims of a verified ID token to an identity.
 * @param givenName name that the provider sent outside of the ID token
 */
export function providerIdentityFromClaims(
  claims: unknown,
  { preset, twoFactorValues }: Pick<IdentityProviderRow, 'preset' | 'twoFactorValues'>,
  givenName: string | undefined,
): Omit<ProviderIdentity, 'refreshToken'> {
  const { iss, sub, email, email_verified: isVerified, xms_edov: isDomainVerified, name, acr, amr, auth_time } = claimsSchema.parse(claims);
  const address = validEmail.safeParse(email).data;
  const isEmailVerified = isVerified === true || (preset === 'microsoft' && isDomainVerified === true);
  const hasTwoFactors = [...amr, ...(acr === undefined ? [] : [acr])].some((value) => twoFactorValues.includes(value));
  const methods = [federatedMethod, ...amr.filter((method) => knownMethods.has(method)), ...(hasTwoFactors ? ['mfa'] : [])];
  const userName = validName.safeParse(name ?? givenName).data;
  return {
    issuer: iss,
    subject: sub,
    verifiedEmail: isEmailVerified ? address : undefined,
    name: userName,
    label: labelSchema.safeParse(address ?? userName).data ?? '…',
    authentication: { amr: [...new Set(methods)], acr: hasTwoFactors ? twoFactorAcrValue : oneFactorAcrValue },
    authenticatedAt: auth_time,
  };
}

/** Returns whether an account's e-mail domain is allowed for a provider. */
export const isEmailDomainAllowed = (
  { emailDomain }: Pick<IdentityProviderRow, 'emailDomain'>,
  { verifiedEmail }: Pick<ProviderIdentity, 'verifiedEmail'>,
): boolean => emailDomain == null || verifiedEmail?.toLowerCase().endsWith(`@${emailDomain}`) === true;

/** Returns whether users with this role can use a provider. */
export const canRoleUseProvider = ({ audience }: Pick<IdentityProviderRow, 'audience'>, role: 'customer' | 'staff' | 'admin'): boolean =>
  audience === 'everyone' || (audience === 'customers') === (role === 'customer');
