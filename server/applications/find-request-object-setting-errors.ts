import type { UncheckedJwks } from './client-authentication-method-and-keys.ts';

type RequestObjectSettings = {
  readonly requireSignedRequestObject?: boolean | undefined;
  readonly jwks?: UncheckedJwks | null | undefined;
  readonly jwksUri?: string | null | undefined;
};

/** Yields the reasons why an application cannot be required to sign its authorization requests (RFC 9101). */
export function* findRequestObjectSettingErrors({
  requireSignedRequestObject: isRequired = false,
  jwks,
  jwksUri,
}: RequestObjectSettings): Generator<{ readonly field: 'require_signed_request_object'; readonly detail: string }> {
  if (isRequired && jwks == null && jwksUri == null)
    yield { field: 'require_signed_request_object', detail: 'requires jwks or jwks_uri with the keys that verify request objects' };
}
