import express from 'express';
import { scopeNames } from '@mandate/contract';
import { mcpCors } from '../../http/middleware/cors.ts';
import { proofAlgorithms } from '../tokens/dpop-proof.ts';
import { audiences, mcpAudience } from '../protocol/endpoints.ts';
import { assistantScopes } from '../protocol/oauth-scopes.ts';

/** Where a resource describes itself (RFC 9728 section 3.1): before the path of what it describes. */
export function resourceMetadataUrl(resource: string): URL {
  const url = new URL(resource);
  url.pathname = `/.well-known/oauth-protected-resource${url.pathname}`;
  return url;
}

/** To be mounted at `/.well-known`. RFC 9728: what an application that knows the API alone needs to find the authorization server. Every 401 points here. */
export function protectedResource(issuer: string): express.Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const resource of audiences(issuer)) {
    const pathname = resourceMetadataUrl(resource).pathname.slice('/.well-known'.length);
    router.all(pathname, mcpCors).get(pathname, (_req, res) => {
      res.set('Cache-Control', 'public, max-age=3600').json(metadata(issuer, resource));
    });
  }
  return router;
}

const metadata = (issuer: string, resource: string) => ({
  resource,
  authorization_servers: [issuer],
  // an assistant that knows nothing else requests all of these
  scopes_supported: resource === mcpAudience(issuer) ? assistantScopes : scopeNames,
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: proofAlgorithms,
  resource_name: 'Mandate',
  resource_documentation: `${issuer}/openapi.json`,
});
