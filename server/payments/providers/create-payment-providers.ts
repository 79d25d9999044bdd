import { manualProvider } from './manual-provider.ts';
import { type PaymentProviders, indexPaymentProvidersByName } from './payment-provider.ts';
import { createStripeProvider, type StripeSettings } from './stripe-provider.ts';
import { createTestProvider } from './test-provider.ts';

type PaymentSettings = { readonly test: boolean; readonly stripe?: StripeSettings | undefined };

/** Creates the configured payment providers. */
export async function createPaymentProviders({ test, stripe }: PaymentSettings): Promise<PaymentProviders> {
  return indexPaymentProvidersByName(
    manualProvider,
    ...(test ? [createTestProvider()] : []),
    ...(stripe ? [await createStripeProvider(stripe)] : []),
  );
}
