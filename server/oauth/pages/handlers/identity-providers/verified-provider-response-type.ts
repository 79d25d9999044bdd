import type { IdentityProviderRow } from '../../../../identity-providers/identity-provider.entity.ts';
import type { PendingProviderSignIn } from '../../../identity-providers/pending-provider-sign-in.ts';
import type { ProviderIdentity } from '../../../identity-providers/provider-identity-and-access-rules.ts';
import type { Interaction } from '../../routing/page-context.ts';

/** A verified response from a provider. */
export type VerifiedProviderResponse = {
  readonly provider: IdentityProviderRow;
  readonly pending: PendingProviderSignIn;
  readonly identity: ProviderIdentity;
  readonly interaction: Interaction | undefined;
};
