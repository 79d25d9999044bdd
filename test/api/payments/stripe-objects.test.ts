import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  eventSubjectFromStripeObject,
  paymentStateFromStripeIntent,
  refundStateFromStripeRefund,
  stripeAmountFromMinorUnits,
} from '../../../server/payments/providers/convert-stripe-objects.ts';

/** Converts a sample Stripe payment intent in which the given fields are replaced. */
const convertIntent = (fields: object) => {
  const intent: unknown = {
    id: 'pi_1',
    currency: 'eur',
    amount_received: 0,
    client_secret: 'secret',
    next_action: null,
    last_payment_error: null,
    ...fields,
  };
  return paymentStateFromStripeIntent(z.custom<Stripe.PaymentIntent>().parse(intent));
};

describe('a payment at Stripe', () => {
  const sdk = { type: 'sdk', url: null, client_secret: 'secret' };
  test.each([
    ['requires_payment_method', 'pending', sdk],
    ['requires_confirmation', 'pending', sdk],
    ['requires_action', 'requires_action', sdk],
    ['processing', 'processing', undefined],
    ['requires_capture', 'processing', undefined],
    ['succeeded', 'succeeded', undefined],
    ['canceled', 'canceled', undefined],
  ])('with the status %s is %s', (status, expected, nextAction) => {
    const state = convertIntent({ status });
    expect([state.status, state.nextAction, 'nextAction' in state, 'failure' in state]).toEqual([
      expected,
      nextAction,
      nextAction !== undefined,
      false,
    ]);
  });

  test('requires a redirect if Stripe specifies a page, and no client action without a client secret', () => {
    const redirect = {
      status: 'requires_action',
      next_action: { type: 'redirect_to_url', redirect_to_url: { url: 'https://bank.example/' } },
    };
    expect(convertIntent(redirect).nextAction).toEqual({ type: 'redirect', url: 'https://bank.example/', client_secret: null });
    expect(convertIntent({ ...redirect, next_action: { type: 'use_stripe_sdk' } }).nextAction).toEqual(sdk);
    expect(convertIntent({ status: 'requires_action', client_secret: null })).not.toHaveProperty('nextAction');
  });

  test.each([
    [{ code: 'card_declined', decline_code: 'insufficient_funds', message: 'No money.' }, 'insufficient_funds', 'No money.'],
    [{ code: 'card_declined', decline_code: 'generic_decline', message: 'Declined.' }, 'card_declined', 'Declined.'],
    [{ code: 'expired_card' }, 'expired_card', 'The payment did not succeed.'],
    [{ code: 'payment_intent_authentication_failure' }, 'authentication_failed', 'The payment did not succeed.'],
    [{ decline_code: 'authentication_required' }, 'authentication_failed', 'The payment did not succeed.'],
    [{ code: 'toString' }, 'unknown', 'The payment did not succeed.'],
    [{}, 'unknown', 'The payment did not succeed.'],
  ])('that failed with %j has the reason %s', (error, code, message) => {
    const state = convertIntent({ status: 'requires_payment_method', last_payment_error: error });
    expect([state.status, state.failure]).toEqual(['failed', { code, message }]);
  });

  test('has the amount in minor units of the currency, although Stripe uses two decimals for ISK and UGX', () => {
    const received = (currency: string) => {
      const { currency: converted, amountReceived } = convertIntent({ status: 'succeeded', currency, amount_received: 500 });
      return [converted, amountReceived];
    };
    expect([received('eur'), received('jpy'), received('isk'), received('ugx')]).toEqual([
      ['EUR', 500],
      ['JPY', 500],
      ['ISK', 5],
      ['UGX', 5],
    ]);
    expect(['EUR', 'JPY', 'ISK', 'UGX'].map((currency) => stripeAmountFromMinorUnits(5, currency))).toEqual([5, 5, 500, 500]);
  });
});

test.each([
  ['succeeded', undefined, { reference: 're_1', status: 'succeeded' }],
  ['failed', 'lost_or_stolen_card', { reference: 're_1', status: 'failed', failureCode: 'lost_or_stolen_card' }],
  ['canceled', undefined, { reference: 're_1', status: 'canceled' }],
  ['pending', undefined, { reference: 're_1', status: 'pending' }],
  ['requires_action', 'x', { reference: 're_1', status: 'pending' }],
  [null, undefined, { reference: 're_1', status: 'pending' }],
])('a refund at Stripe with the status %s and the reason %s is converted', (status, reason, expected) => {
  const refund: unknown = { id: 're_1', status, ...(reason !== undefined && { failure_reason: reason }) };
  const state = refundStateFromStripeRefund(z.custom<Stripe.Refund>().parse(refund));
  expect([state, Object.keys(state)]).toEqual([expected, Object.keys(expected)]);
});

test.each<[object, object | undefined]>([
  [
    { object: 'payment_intent', id: 'pi_1' },
    { subject: 'payment', reference: 'pi_1' },
  ],
  [
    { object: 'refund', id: 're_1' },
    { subject: 'refund', reference: 're_1' },
  ],
  [{ object: 'charge', id: 'ch_1' }, undefined],
  [{ object: 'payment_intent' }, undefined],
  [{ object: 'refund', id: 7 }, undefined],
  [{ id: 'pi_1' }, undefined],
])('the subject of an event about %j is %j', (object, subject) => {
  expect(eventSubjectFromStripeObject(z.custom<Stripe.Event.Data.Object>().parse(object))).toEqual(subject);
});
