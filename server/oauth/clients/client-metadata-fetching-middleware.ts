import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { Application } from '../../applications/application.entity.ts';
import { createApplication, type ApplicationInput } from '../../applications/validate-and-create-application.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { getViolatedConstraint } from '../../database/errors/sql-error-fields.ts';
import type { NetworkPolicy } from '../../outgoing-http/ssrf-protected-connection.ts';
import { fetchJsonDocument, UnusableDocumentError } from '../../outgoing-http/fetch-and-parse-json-document.ts';
import { TooManyAttemptsError, type AttemptLimiter } from '../brute-force/attempt-limiter.ts';
import { findClientIdUrlError, isUrlClientId } from './validate-client-id-url.ts';
import { applicationFromMetadataDocument } from './application-from-metadata-document.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import { auditApplicationSelfRegistration } from './dynamic-client-registration.ts';
import { readBodyFromBufferOrStream, replaceRequestBody } from '../protocol/buffered-request-body.ts';

type ResolverOptions = { readonly em: EntityManager; readonly limits: AttemptLimiter; readonly network: NetworkPolicy };

/** Maximum document size in bytes, as recommended by the draft (section 6.6). */
const bytesMax = 5 * 1024;
const timeoutMs = 5_000;

/**
 * Creates or updates an application from its client ID metadata document, at the start of an authorization request whose client ID is a
 * URL. The application is an ordinary row in `applications`, so that consent, connected apps, limits, webhooks and audit work as for other
 * clients. Runs before any transaction starts, so that no lock is held while the document is fetched.
 */
export function createClientMetadataFetchingMiddleware(parts: ResolverOptions): Middleware {
  const pending = new Map<string, Promise<void>>();
  return async (ctx, next) => {
    const clientId = await readClientIdOfNewRequest(ctx);
    if (clientId !== undefined && isUrlClientId(clientId)) {
      const request = pending.get(clientId) ?? refreshFromDocument(parts, clientId, z.custom<Request>().parse(ctx.req));
      pending.set(clientId, request);
      try {
        await request;
      } catch (error) {
        getOauthRequestContext(ctx.req).metadataDocumentFailure = describeFailure(error);
      } finally {
        pending.delete(clientId);
      }
    }
    await next();
  };
}

async function readClientIdOfNewRequest(ctx: Context): Promise<string | undefined> {
  if (ctx.method === 'GET' && ctx.path === oauthEndpointPaths.authorization) {
    const { client_id: clientId } = ctx.query;
    return typeof clientId === 'string' ? clientId : undefined;
  }
  if (ctx.method !== 'POST' || ctx.path !== oauthEndpointPaths.pushed_authorization_request) return undefined;
  const body = await readBodyFromBufferOrStream(ctx);
  replaceRequestBody(ctx, body);
  return new URLSearchParams(body.toString()).get('client_id') ?? undefined;
}

async function refreshFromDocument({ em, limits, network }: ResolverOptions, clientId: string, req: Request): Promise<void> {
  const fault = findClientIdUrlError(clientId);
  if (fault !== undefined) throw new UnusableDocumentError(`the URL ${fault}`);
  const [known, now] = [await em.fork().findOne(Application, { clientId }), new Date()];
  if (known && (known.status === 'disabled' || isDocumentFresh(known, now))) return;
  try {
    await limits.countAttempt('metadataDocument', '', { address: req.ip });
  } catch (error) {
    if (known && error instanceof TooManyAttemptsError) return; // continue with the previous document
    throw error;
  }
  const document = await fetchJsonDocument({ url: clientId, totalMs: timeoutMs, bytesMax }, network);
  await storeApplication(em, applicationFromMetadataDocument(clientId, document, now), req);
}

const isDocumentFresh = ({ metadataExpiresAt }: Application, now: Date): boolean =>
  metadataExpiresAt != null && new Date(metadataExpiresAt) > now;

async function storeApplication(em: EntityManager, input: ApplicationInput, req: Request): Promise<void> {
  const { clientId } = input;
  await em
    .fork()
    .transactional(async (inner) => {
      const known = await inner.findOne(Application, { clientId });
      if (known) return updateFromDocument(inner, known, input, req);
      await createApplication(inner, input);
      await auditApplicationSelfRegistration(inner, req, clientId, 'metadata_document', input.scopes);
    })
    .catch((error: unknown) => {
      // a concurrent request has already stored the document
      if (getViolatedConstraint(error) !== 'applications_client_id_unique') throw error;
    });
}

async function updateFromDocument(em: EntityManager, known: Application, input: ApplicationInput, req: Request): Promise<void> {
  const { clientId, metadataExpiresAt = null, name, redirectUris = [], postLogoutRedirectUris = [], scopes, grantTypes } = input;
  const { policyUri = null, tosUri = null } = input;
  const before = documentFingerprint(known);
  known.metadataExpiresAt = metadataExpiresAt;
  known.name = name;
  known.redirectUris = [...redirectUris];
  known.postLogoutRedirectUris = [...postLogoutRedirectUris];
  known.scopes = [...scopes];
  known.grantTypes = [...grantTypes];
  known.policyUri = policyUri;
  known.tosUri = tosUri;
  await em.flush();
  if (documentFingerprint(known) === before) return;
  const details = { fields: ['metadata_document'] };
  const event = { action: 'application.updated', clientId, subject: `application:${clientId}`, details } as const;
  await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, new Date());
}

type DocumentFields = Pick<Application, 'name' | 'policyUri' | 'tosUri'> & {
  readonly [Field in 'redirectUris' | 'postLogoutRedirectUris' | 'scopes' | 'grantTypes']: readonly string[];
};

const documentFingerprint = (fields: DocumentFields): string => {
  const { name, redirectUris, postLogoutRedirectUris, scopes, grantTypes, policyUri, tosUri } = fields;
  return JSON.stringify([name, redirectUris, postLogoutRedirectUris, scopes, grantTypes, policyUri, tosUri]);
};

function describeFailure(error: unknown): string {
  if (error instanceof UnusableDocumentError) return error.message;
  if (error instanceof TooManyAttemptsError) return `too many documents were requested; try again in ${error.retryAfterSeconds} seconds`;
  throw error;
}
