import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { createPayloadTooLargeProblem, createProblem } from '../http/problem-details/problem.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { InvalidProviderSignatureError, type PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { reduceChunkedBodyLimitTo } from '../http/request/reject-chunked-body-over-limit.ts';
import { storeProviderEvents } from './store-and-apply-provider-events.ts';

const bodyMax = 1_000_000;

type Dependencies = HandlerDependencies & PaymentHandlerDependencies;

export const paymentProviderWebhookRoute = (dependencies: Dependencies) =>
  initServer().router(contract.providerEvents, {
    receive: (request) => handleReceiveProviderEvents(dependencies, request),
  });

/** Receives provider events. The response only acknowledges that the events are stored. A job applies the events afterwards. */
const handleReceiveProviderEvents: RouteHandler<typeof contract.providerEvents.receive, Dependencies> = async (
  { em, providers, wake },
  { params, req },
) => {
  const provider = providers.get(params.provider);
  if (!provider?.parseEvents) throw createProblem('not_found', { detail: 'No configured payment provider uses this webhook URL.' });
  // The signature covers the raw body bytes.
  reduceChunkedBodyLimitTo(req, bodyMax);
  const raw = await readBytes(req);
  const headers = new Headers(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
  const events = await provider.parseEvents(raw, headers).catch(rethrowAsInvalidSignature);
  const received = await storeProviderEvents(em, provider, events);
  wake();
  return { status: 200, body: { received } };
};

function rethrowAsInvalidSignature(error: unknown): never {
  if (!(error instanceof InvalidProviderSignatureError)) throw error;
  throw createProblem('invalid_signature', {
    detail: 'The event was not signed by the provider, or the signature is too old.',
    cause: error,
  });
}

async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bodyMax) throw createPayloadTooLargeProblem(bodyMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
