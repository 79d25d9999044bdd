import type { Request } from 'express';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { Application } from '../../applications/application.entity.ts';
import { createApplication, type ApplicationInput } from '../../applications/create-application.ts';
import { recordAuditEvent, sourceOf } from '../../audit/record-audit-event.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { constraintOf } from '../../database/errors/sql-errors.ts';
import { noteOf } from '../../memory/object-metadata.ts';
import { DocumentTooLargeError, fetchDocument, type FetchedDocument } from '../../outgoing-http/fetch-document.ts';
import { AddressNotAllowedError, type Network } from '../../outgoing-http/protected-client.ts';
import { TooManyAttemptsError, type AttemptLimits } from '../brute-force/attempt-limits.ts';
import { clientIdUrlFault, isUrlClientId } from './client-id-url.ts';
import { applicationFromDocument, MetadataDocumentError } from './client-metadata-document.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { recordRegistration } from './dynamic-client-registration.ts';
import { readBody, replaceBody } from '../protocol/buffered-request-body.ts';

type ResolverParts = { readonly em: Em; readonly limits: AttemptLimits; readonly network: Network };

/** The draft recommends 5 kB (section 6.6). */
const bytesMax = 5 * 1024;
const totalMs = 5_000;

const failures = noteOf<string>('failure of a client ID metadata document');

/** Returns why the client ID metadata document of this request cannot be used, when it cannot. */
export const documentFailure = (ctx: object): string | undefined => failures.get(ctx);

/**
 * Where a sign-in starts with a URL as client ID, keeps the application of that URL up to date with its metadata document. It is a
 * row of `applications` like any other, so that consent, connected apps, limits, webhooks and audit are the same. Runs before any
 * transaction: no lock is held while the document is fetched.
 */
export function resolveClientIdUrl(parts: ResolverParts): Middleware {
  const pending = new Map<string, Promise<void>>();
  return async (ctx, next) => {
    const clientId = await startingClientId(ctx);
    if (clientId !== undefined && isUrlClientId(clientId)) {
      const request = pending.get(clientId) ?? refreshApplication(parts, clientId, z.custom<Request>().parse(ctx.req));
      pending.set(clientId, request);
      await request.catch((error: unknown) => failures.set(ctx, failureText(error))).finally(() => pending.delete(clientId));
    }
    await next();
  };
}

async function startingClientId(ctx: Context): Promise<string | undefined> {
  if (ctx.method === 'GET' && ctx.path === endpoints.authorization) {
    const { client_id: clientId } = ctx.query;
    return typeof clientId === 'string' ? clientId : undefined;
  }
  if (ctx.method !== 'POST' || ctx.path !== endpoints.pushed_authorization_request) return undefined;
  const body = await readBody(ctx);
  replaceBody(ctx, body);
  return new URLSearchParams(body.toString()).get('client_id') ?? undefined;
}

async function refreshApplication({ em, limits, network }: ResolverParts, clientId: string, req: Request): Promise<void> {
  const fault = clientIdUrlFault(clientId);
  if (fault !== undefined) throw new MetadataDocumentError(`the URL ${fault}`);
  const [known, now] = [await em.fork().findOne(Application, { clientId }), new Date()];
  if (known && (known.status === 'disabled' || isCurrent(known, now))) return;
  try {
    await limits.begin('metadataDocument', '', { address: req.ip });
  } catch (error) {
    if (known && error instanceof TooManyAttemptsError) return; // the document of before is better than none
    throw error;
  }
  await storeApplication(em, applicationFromDocument(clientId, await fetchMetadata(clientId, network), now), req);
}

async function fetchMetadata(url: string, network: Network): Promise<FetchedDocument> {
  try {
    return await fetchDocument({ url, accept: 'application/json', totalMs, bytesMax }, network);
  } catch (cause) {
    if (cause instanceof DocumentTooLargeError) throw new MetadataDocumentError(cause.message, { cause });
    if (cause instanceof AddressNotAllowedError) throw new MetadataDocumentError('the host has no public address', { cause });
    throw new MetadataDocumentError('the document could not be fetched', { cause });
  }
}

const isCurrent = ({ metadataExpiresAt }: Application, now: Date): boolean =>
  metadataExpiresAt != null && new Date(metadataExpiresAt) > now;

async function storeApplication(em: Em, input: ApplicationInput, req: Request): Promise<void> {
  const { clientId } = input;
  await em
    .fork()
    .transactional(async (inner) => {
      const known = await inner.findOne(Application, { clientId });
      if (known) return updateFromDocument(inner, known, input, req);
      await createApplication(inner, input);
      await recordRegistration(inner, req, clientId, 'metadata_document', input.scopes);
    })
    .catch((error: unknown) => {
      // another request has stored the same document at the same time
      if (constraintOf(error) !== 'applications_client_id_unique') throw error;
    });
}

async function updateFromDocument(em: Em, known: Application, input: ApplicationInput, req: Request): Promise<void> {
  const { clientId, metadataExpiresAt = null, name, redirectUris = [], postLogoutRedirectUris = [], scopes, grantTypes } = input;
  const before = definedByDocument(known);
  known.metadataExpiresAt = metadataExpiresAt;
  known.name = name;
  known.redirectUris = [...redirectUris];
  known.postLogoutRedirectUris = [...postLogoutRedirectUris];
  known.scopes = [...scopes];
  known.grantTypes = [...grantTypes];
  await em.flush();
  if (definedByDocument(known) === before) return;
  const details = { fields: ['metadata_document'] };
  const event = { action: 'application.updated', clientId, subject: `application:${clientId}`, details } as const;
  await recordAuditEvent(em, sourceOf(req), event, new Date());
}

type DefinedByDocument = Pick<Application, 'name'> & {
  readonly [Field in 'redirectUris' | 'postLogoutRedirectUris' | 'scopes' | 'grantTypes']: readonly string[];
};

const definedByDocument = ({ name, redirectUris, postLogoutRedirectUris, scopes, grantTypes }: DefinedByDocument): string =>
  JSON.stringify([name, redirectUris, postLogoutRedirectUris, scopes, grantTypes]);

function failureText(error: unknown): string {
  if (error instanceof MetadataDocumentError) return error.message;
  if (error instanceof TooManyAttemptsError) return `too many documents were requested; try again in ${error.retryAfterSeconds} seconds`;
  throw error;
}
