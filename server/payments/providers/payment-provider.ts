import type { Payment, Refund } from '@mandate/contract';

type NextAction = NonNullable<Payment['next_action']>;
type FailureCode = NonNullable<Payment['failure_code']>;

/** State of a payment at its provider. */
export type PaymentStateAtProvider = {
  /** `null` if the provider rejected the payment before assigning an ID. */
  readonly reference: string | null;
  readonly status: Payment['status'];
  readonly amountReceived: number;
  readonly currency: string;
  readonly nextAction?: NextAction;
  readonly failure?: { readonly code: FailureCode; readonly message: string };
};

export type RefundStateAtProvider = {
  readonly reference: string | null;
  readonly status: Refund['status'];
  readonly failureCode?: string;
};

/**
 * Notification about a change at the provider. Events can be duplicated, late or out of order, so the current state is fetched from the
 * provider.
 */
export type ProviderEvent = {
  readonly id: string;
  readonly subject: 'payment' | 'refund';
  readonly reference: string;
  readonly type: string;
};

export type ProviderPaymentRequest = {
  readonly orderId: number;
  readonly attempt: number;
  readonly amount: number;
  readonly currency: string;
  readonly returnUrl?: string;
  readonly methodToken?: string;
  readonly customer: { readonly id: number; readonly email: string };
  /** Requests with the same key create only one payment. */
  readonly idempotencyKey: string;
};

export type ProviderRefundRequest = {
  readonly refundId: number;
  readonly amount: number;
  readonly currency: string;
  readonly reason: Refund['reason'];
  readonly idempotencyKey: string;
};

/** A payment provider. Calls to a provider can be slow or fail, so they must not be made inside a transaction. */
export type PaymentProvider = {
  readonly name: Payment['provider'];
  /** Whether the provider is polled for payment outcomes. If the provider is not polled, staff report the outcomes. */
  readonly isPolled: boolean;
  /** How long a payment reserves the order's goods. `long` is for bank transfers; `short` is the normal time for unpaid orders. */
  readonly reservation: 'short' | 'long';
  /** All valid payment method tokens, if they are known. A payment with any other token is rejected before it starts. */
  readonly methodTokens?: readonly string[];
  create(request: ProviderPaymentRequest): Promise<PaymentStateAtProvider>;
  retrieve(reference: string): Promise<PaymentStateAtProvider>;
  /** Returns the payment after the attempt to cancel it. A payment that has succeeded in the meantime is not canceled. */
  cancel(reference: string, idempotencyKey: string): Promise<PaymentStateAtProvider>;
  refund(reference: string, request: ProviderRefundRequest): Promise<RefundStateAtProvider>;
  retrieveRefund(reference: string): Promise<RefundStateAtProvider>;
  /** Verifies the signature and parses the events; throws an error if the signature is invalid. */
  parseEvents?(raw: Uint8Array, headers: Headers): Promise<ProviderEvent[]>;
};

export type PaymentProviders = ReadonlyMap<string, PaymentProvider>;

/** Additional dependencies of handlers that use payment providers. */
export type PaymentHandlerDependencies = {
  readonly providers: PaymentProviders;
  /** Wakes the background jobs. */
  readonly wake: () => void;
};

/** Indexes payment providers by name. */
export const indexPaymentProvidersByName = (...list: readonly PaymentProvider[]): PaymentProviders =>
  new Map(list.map((provider) => [provider.name, provider]));

/** Returns the payment provider with this name. Throws an error if the provider is not configured. */
export function requirePaymentProvider(providers: PaymentProviders, name: string): PaymentProvider {
  const provider = providers.get(name);
  if (!provider) throw new Error(`the payment provider ${name} is no longer configured`);
  return provider;
}

/** Thrown if an event has no valid provider signature. */
export class InvalidProviderSignatureError extends Error {
  override readonly name = 'InvalidProviderSignatureError';
}

/** The provider did not respond, so the request's result is unknown. Retry the request with the same idempotency key. */
export class PaymentProviderUnavailableError extends Error {
  override readonly name = 'PaymentProviderUnavailableError';
}

/** Resolves to the provider's response, or to `undefined` if the provider is unavailable and will be polled later. */
export async function undefinedIfProviderUnavailable<Result>(response: Promise<Result>): Promise<Result | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof PaymentProviderUnavailableError) return undefined;
    throw error;
  }
}
