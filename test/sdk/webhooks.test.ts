import { Webhook } from 'standardwebhooks';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Order } from '@mandate/client-sdk';
import { type EventOf, type MandateEvent, signWebhook, verifyWebhook, WebhookVerificationError } from '@mandate/client-sdk/webhooks';

/** Test vector published by Standard Webhooks. */
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};
const at = (seconds: number) => ({ now: new Date((1_614_265_330 + seconds) * 1000) });
const verify = (given: Partial<typeof vector> = {}, options = at(0)): Promise<unknown> => {
  const { body, headers, secret } = { ...vector, ...given };
  return verifyWebhook(body, headers, secret, options);
};
const refused = expect.any(WebhookVerificationError);

describe('the published test vector', () => {
  test('is accepted with every type of headers and body', async () => {
    const { body, headers, secret } = vector;
    expect(await verify()).toEqual({ test: 2_432_232_314 });
    expect(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), [secret], at(0))).toEqual({ test: 2_432_232_314 });
    expect(await signWebhook(headers['webhook-id'], body, secret, at(0).now)).toEqual(headers);
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await verifyWebhook(body, shouted, secret, at(0))).toEqual({ test: 2_432_232_314 });
  });

  test('is rejected with any change', async () => {
    const header = (name: string, value: string) => ({ headers: { ...vector.headers, [name]: value } });
    await expect(verify({ body: '{"test": 2432232315}' })).rejects.toEqual(refused);
    await expect(verify({ body: '{"test":2432232314}' })).rejects.toEqual(refused);
    await expect(verify({ body: '' })).rejects.toEqual(refused);
    await expect(verify(header('webhook-id', 'msg_other'))).rejects.toEqual(refused);
    await expect(verify(header('webhook-timestamp', '1614265331'))).rejects.toEqual(refused);
    await expect(verify(header('webhook-signature', 'v1,AAAA'))).rejects.toEqual(refused);
    await expect(verify(header('webhook-signature', 'v1,%%%'))).rejects.toEqual(refused);
    await expect(verify(header('webhook-signature', vector.headers['webhook-signature'].replace('v1,', 'v2,')))).rejects.toEqual(refused);
    await expect(verify({ secret: `whsec_${btoa('another secret of some length')}` })).rejects.toEqual(refused);
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)('is rejected without %s', async (name) => {
    await expect(verify({ headers: { ...vector.headers, [name]: '' } })).rejects.toEqual(refused);
  });

  test.each(['', 'x', '-1614265330', '1614265330.5', '1e9', '99999999999999'])('is rejected with the timestamp %j', async (time) => {
    await expect(verify({ headers: { ...vector.headers, 'webhook-timestamp': time } })).rejects.toEqual(refused);
  });

  test.each([-301, 301])('is rejected after %i s', async (seconds) => expect(verify({}, at(seconds))).rejects.toEqual(refused));
  test.each([-300, -299, 0, 299, 300])('is accepted after %i s', async (seconds) => {
    expect(await verify({}, at(seconds))).toBeDefined();
  });
});

describe('rotated secrets', () => {
  const [first, second] = ['first secret, 24 bytes or more', 'second secret, 24 bytes or more'].map((text) => `whsec_${btoa(text)}`);

  test('both are accepted during the overlap, and only the new one afterwards', async () => {
    const now = new Date();
    const sign = (secret = ''): string => new Webhook(secret).sign('evt_1', now, '{}');
    const headers = (...signatures: string[]) => ({
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    });
    const both = headers(sign(first), sign(second));
    for (const secrets of [[first ?? ''], [second ?? ''], [first ?? '', second ?? '']])
      expect(await verifyWebhook('{}', both, secrets)).toEqual({});
    await expect(verifyWebhook('{}', headers(sign(second)), first ?? '')).rejects.toEqual(refused);
    expect(await verifyWebhook('{}', headers(sign(second)), [first ?? '', second ?? ''])).toEqual({});
  });

  test('an invalid secret throws a TypeError that does not contain it', async () => {
    await expect(verifyWebhook('{}', vector.headers, 'whsec_%%', at(0))).rejects.toThrow(TypeError);
    await expect(verifyWebhook('{}', vector.headers, '', at(0))).rejects.not.toThrow('%%');
  });
});

test('the event type determines the type of its resource', () => {
  expectTypeOf<EventOf<'order.paid'>['type']>().toEqualTypeOf<'order.paid'>();
  expectTypeOf<EventOf<'order.paid'>['data']['object']>().toEqualTypeOf<Order>();
  const amountOf = (event: MandateEvent): number => {
    switch (event.type) {
      case 'order.paid':
        return event.data.object.total;
      case 'refund.succeeded':
        return -event.data.object.amount;
      default:
        return 0;
    }
  };
  expectTypeOf(amountOf).returns.toBeNumber();
});
