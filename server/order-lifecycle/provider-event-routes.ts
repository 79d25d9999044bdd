import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { payloadTooLarge, problem } from '../http/problem-details/problem.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { BadSignature, type PaymentDeps } from '../payments/providers/payment-provider.ts';
import { limitChunkSizes } from '../http/request/chunked-body-size.ts';
import { storeProviderEvents } from './provider-events.ts';

const bodyMax = 1_000_000;

/** The answer says that it is stored, and no more: what it means is found out afterwards. */
export const providerEventRoutes = ({ em, providers, wake }: ResourceDeps & PaymentDeps) =>
  initServer().router(contract.providerEvents, {
    receive: async ({ params, req }) => {
      const provider = providers.get(params.provider);
      if (!provider?.parseEvents) throw problem('not_found', { detail: 'No payment provider reports here.' });
      // The signature is over the bytes as they came.
      limitChunkSizes(req, bodyMax);
      const raw = await bytesOf(req);
      const headers = new Headers(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
      const events = await provider.parseEvents(raw, headers).catch(refuseBadSignature);
      const received = await storeProviderEvents(em, provider, events);
      wake();
      return { status: 200, body: { received } };
    },
  });

function refuseBadSignature(error: unknown): never {
  if (!(error instanceof BadSignature)) throw error;
  throw problem('invalid_signature', { detail: 'This was not signed by the provider, or too long ago.', cause: error });
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bodyMax) throw payloadTooLarge(bodyMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
