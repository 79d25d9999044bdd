import type { idTokenSigningAlgorithms } from '@mandate/contract';
import type { SecurityProfile } from './security-profile.ts';

export type IdTokenSigningAlgorithm = (typeof idTokenSigningAlgorithms)[number];

export type IdTokenSettings = {
  readonly idTokenSignedResponseAlg?: IdTokenSigningAlgorithm | null | undefined;
  readonly securityProfile?: SecurityProfile | null | undefined;
};

/**
 * Returns the algorithm with which ID tokens and logout tokens of an application are signed. Without a setting, this is the default of
 * OpenID Connect, or, because FAPI 2.0 does not permit RS256, the algorithm of access tokens.
 */
export const getIdTokenSigningAlgorithm = ({ idTokenSignedResponseAlg, securityProfile }: IdTokenSettings): IdTokenSigningAlgorithm =>
  idTokenSignedResponseAlg ?? (securityProfile === 'fapi2' ? 'ES256' : 'RS256');
