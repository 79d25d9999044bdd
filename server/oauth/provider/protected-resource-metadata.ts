import express from 'express';
import { scopeNames } from '@mandate/contract';
import { mcpCors } from '../../http/middleware/cors.ts';
import { dpopAlgorithms } from '../tokens/verify-dpop-proof.ts';
import { listAccessTokenAudiences, mcpAudienceFromIssuer } from '../protocol/endpoint-paths-and-audiences.ts';
import { defaultMcpClientScopes } from '../protocol/oauth-scopes.ts';

/** Returns a protected resource's metadata URL (RFC 9728 section 3.1): the well-known prefix comes before the resource path. */
export function getProtectedResourceMetadataUrl(resource: string): URL {
  const url = new URL(resource);
  url.pathname = `/.well-known/oauth-protected-resource${url.pathname}`;
  return url;
}

/**
 * Serves the protected resource metadata (RFC 9728). With this metadata, a client that knows only the API URL can find the authorization
 * server. Mount the router at `/.well-known`. Every 401 response refers to this metadata.
 * @param acceptsCertificates whether access tokens can be bound to client certificates (RFC 8705)
 */
export function createProtectedResourceMetadataRouter(issuer: string, acceptsCertificates: boolean): express.Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const resource of listAccessTokenAudiences(issuer)) {
    const pathname = getProtectedResourceMetadataUrl(resource).pathname.slice('/.well-known'.length);
    router.all(pathname, mcpCors).get(pathname, (_req, res) => {
      res.set('Cache-Control', 'public, max-age=3600').json({
        ...metadata(issuer, resource),
        ...(acceptsCertificates && { tls_client_certificate_bound_access_tokens: true }),
      });
    });
  }
  return router;
}

const metadata = (issuer: string, resource: string) => ({
  resource,
  authorization_servers: [issuer],
  // An assistant that knows nothing else about the API requests all of these scopes.
  scopes_supported: resource === mcpAudienceFromIssuer(issuer) ? defaultMcpClientScopes : scopeNames,
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: dpopAlgorithms,
  resource_name: 'Mandate',
  resource_documentation: `${issuer}/openapi.json`,
});
