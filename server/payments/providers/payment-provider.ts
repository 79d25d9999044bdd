import type { Payment, Refund } from '@mandate/contract';

type NextAction = NonNullable<Payment['next_action']>;
type FailureCode = NonNullable<Payment['failure_code']>;

/** What a provider knows of a payment. */
export type ProviderPayment = {
  /** `null`: it was refused before the provider gave it an identifier. */
  readonly reference: string | null;
  readonly status: Payment['status'];
  readonly amountReceived: number;
  readonly currency: string;
  readonly nextAction?: NextAction;
  readonly failure?: { readonly code: FailureCode; readonly message: string };
};

export type ProviderRefund = {
  readonly reference: string | null;
  readonly status: Refund['status'];
  readonly failureCode?: string;
};

/** That something happened at the provider. What it is now, the provider is asked: reports come twice, late, and in any order. */
export type ProviderEvent = {
  readonly id: string;
  readonly subject: 'payment' | 'refund';
  readonly reference: string;
  readonly type: string;
};

export type PaymentRequest = {
  readonly orderId: number;
  readonly attempt: number;
  readonly amount: number;
  readonly currency: string;
  readonly returnUrl?: string;
  readonly methodToken?: string;
  readonly customer: { readonly id: number; readonly email: string };
  /** The same request with the same key is the same payment, however often it is sent. */
  readonly idempotencyKey: string;
};

export type RefundRequest = {
  readonly refundId: number;
  readonly amount: number;
  readonly currency: string;
  readonly reason: Refund['reason'];
  readonly idempotencyKey: string;
};

/** Who takes the money. Every call may take long and may fail, so none is made inside a transaction. */
export type PaymentProvider = {
  readonly name: Payment['provider'];
  /** `asks`: its payments move on at the provider, so it is asked from time to time. Otherwise a person says what happened. */
  readonly asks: boolean;
  /** How long a payment keeps the goods of its order: as long as any unpaid order, or long enough for a bank transfer. */
  readonly hold: 'short' | 'long';
  /** Every token that the provider knows, where there is such a list: a payment with another token is rejected before it starts. */
  readonly methodTokens?: readonly string[];
  create(request: PaymentRequest): Promise<ProviderPayment>;
  retrieve(reference: string): Promise<ProviderPayment>;
  /** Gives the payment as it is afterwards: one that has succeeded in the meantime is not canceled any more. */
  cancel(reference: string, idempotencyKey: string): Promise<ProviderPayment>;
  refund(reference: string, request: RefundRequest): Promise<ProviderRefund>;
  retrieveRefund(reference: string): Promise<ProviderRefund>;
  /** Verifies first, and throws `BadSignature`. */
  parseEvents?(raw: Uint8Array, headers: Headers): Promise<ProviderEvent[]>;
};

export type PaymentProviders = ReadonlyMap<string, PaymentProvider>;

/** What handlers that have to do with money are made with besides. */
export type PaymentDeps = {
  readonly providers: PaymentProviders;
  /** Has what waits in the background looked at soon. */
  readonly wake: () => void;
};

export const paymentProviders = (...list: readonly PaymentProvider[]): PaymentProviders =>
  new Map(list.map((provider) => [provider.name, provider]));

export function providerOf(providers: PaymentProviders, name: string): PaymentProvider {
  const provider = providers.get(name);
  if (!provider) throw new Error(`the payment provider ${name} is not configured any more`);
  return provider;
}

/** Not signed by the provider. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
}

/** The provider did not answer, so nobody knows whether it did what it was asked: ask again, with the same key. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

/** What the provider says; `undefined` while it does not answer, and then it is asked again later. */
export async function ifAvailable<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return undefined;
    throw error;
  }
}
