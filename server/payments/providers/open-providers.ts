import { manualProvider } from './manual-provider.ts';
import { type PaymentProviders, paymentProviders } from './payment-provider.ts';
import { openStripe, type StripeSettings } from './stripe-provider.ts';
import { testProvider } from './test-provider.ts';

type PaymentSettings = { readonly test: boolean; readonly stripe?: StripeSettings | undefined };

/** Creates the payment providers that are configured. */
export async function openPaymentProviders({ test, stripe }: PaymentSettings): Promise<PaymentProviders> {
  return paymentProviders(manualProvider, ...(test ? [testProvider()] : []), ...(stripe ? [await openStripe(stripe)] : []));
}
