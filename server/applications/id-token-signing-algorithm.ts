import type { idTokenSigningAlgorithms } from '@mandate/contract';
import type { SecurityProfile } from './find-security-profile-errors.ts';

export type IdTokenSigningAlgorithm = (typeof idTokenSigningAlgorithms)[number];

export type IdTokenSettings = {
  readonly idTokenSignedResponseAlg?: IdTokenSigningAlgorithm | null | undefined;
  readonly securityProfile?: SecurityProfile | null | undefined;
};

/**
 * Returns the algorithm used to sign the ID tokens and logout tokens of an application. As in OpenID Connect, the default is RS256. The
 * security profile `fapi2` does not permit RS256, so its default is ES256.
 */
export const getIdTokenSigningAlgorithm = ({ idTokenSignedResponseAlg, securityProfile }: IdTokenSettings): IdTokenSigningAlgorithm =>
  idTokenSignedResponseAlg ?? (securityProfile === 'fapi2' ? 'ES256' : 'RS256');
