import type { Config } from '../../config/config.ts';
import { manualProvider } from './manual-provider.ts';
import { type PaymentProviders, paymentProviders } from './payment-provider.ts';
import { openStripe } from './stripe-provider.ts';
import { testProvider } from './test-provider.ts';

/** Creates the payment providers that are configured. */
export async function openPaymentProviders({ test, stripe }: Config['payments']): Promise<PaymentProviders> {
  return paymentProviders(manualProvider, ...(test ? [testProvider()] : []), ...(stripe ? [await openStripe(stripe)] : []));
}
