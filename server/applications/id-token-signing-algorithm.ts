import type { idTokenSigningAlgorithms } from '@mandate/contract';
import type { SecurityProfile } from './find-security-profile-errors.ts';

export type IdTokenSigningAlgorithm = (typeof idTokenSigningAlgorithms)[number];

export type IdTokenSettings = {
  readonly idTokenSignedResponseAlg?: IdTokenSigningAlgorithm | null | undefined;
  readonly securityProfile?: SecurityProfile | null | undefined;
};

/**
 * Returns the algorithm used to sign the ID tokens and logout tokens of an application. The default is RS256, as in OpenID Connect; with
 * the security profile `fapi2`, which does not permit RS256, it is ES256.
 */
export const getIdTokenSigningAlgorithm = ({ idTokenSignedResponseAlg, securityProfile }: IdTokenSettings): IdTokenSigningAlgorithm =>
  idTokenSignedResponseAlg ?? (securityProfile === 'fapi2' ? 'ES256' : 'RS256');
