import { initServer } from '@ts-rest/express';
import { contract, type QuoteStatus } from '@mandate/contract';
import { respondWithEtagOrNotModified } from '../http/response/etag-and-conditional-requests.ts';
import { enableEtagOfCreatedResource } from '../http/response/etag-of-created-resource.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { cancelQuote } from './cancel-quote.ts';
import { createQuote } from './create-quote.ts';
import { findAccessibleQuote } from './find-accessible-quote.ts';
import { countQuotes, listQuotes, authorizeAndBuildListedQuotesFilter } from './list-quotes.ts';
import { quoteFromEntity, quoteSummaryFromEntity } from './quote-from-entity.ts';

/** When a quote expires, its version does not change, so the ETag contains the status. */
const etagName = (id: number, status: QuoteStatus): string => `quote-${id}-${status}`;

const locationFor = ({ id }: { readonly id: number }): string => `/api/v1/quotes/${id}`;

export const quoteRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.quotes, {
    create: (request) => handleCreateQuote(dependencies, request),
    list: (request) => handleListQuotes(dependencies, request),
    get: (request) => handleGetQuote(dependencies, request),
    cancel: (request) => handleCancelQuote(dependencies, request),
  });

const handleCreateQuote: RouteHandler<typeof contract.quotes.create, HandlerDependencies> = ({ em, taxMode }, { body, req, res }) => {
  enableEtagOfCreatedResource(res, (id) => etagName(id, 'open'));
  return createResourceIdempotently(em, req, res, (inner) => createQuote(inner, requirePrincipal(req), taxMode, body), locationFor);
};

const handleListQuotes: RouteHandler<typeof contract.quotes.list, HandlerDependencies> = async (
  { readList, pages },
  { query, req, res },
) => {
  const principal = requirePrincipal(req);
  const now = new Date();
  const filter = authorizeAndBuildListedQuotesFilter(principal, query, now);
  const position = pages.decodeCursor(req, query);
  const rows = await readList((from) => listQuotes(from, filter, position, query.limit));
  const page = pages.respondWithPage(
    req,
    res,
    query,
    rows,
    (quote) => quoteSummaryFromEntity(quote, principal, now),
    (quote) => [quote.createdAt.toISOString(), quote.id],
  );
  const total = await createTotalCountFields(query, () => readList((from) => countQuotes(from, filter)));
  return { status: 200, body: { ...page, ...total } };
};

const handleGetQuote: RouteHandler<typeof contract.quotes.get, HandlerDependencies> = async (
  { em },
  { params: { quote_id: id }, req, res },
) => {
  const principal = requirePrincipal(req);
  const quote = await findAccessibleQuote(em, principal, id);
  if (!quote) throw createProblem('not_found', { detail: translatable`Quote ${{ id }} was not found.` });
  const body = quoteFromEntity(quote, principal, new Date());
  return respondWithEtagOrNotModified(req, res, etagName(id, body.status), body);
};

const handleCancelQuote: RouteHandler<typeof contract.quotes.cancel, HandlerDependencies> = (
  { em },
  { params: { quote_id: id }, req, res },
) => createResourceIdempotently(em, req, res, (inner) => cancelQuote(inner, requirePrincipal(req), id), locationFor);
