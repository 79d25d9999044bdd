import { expect, test } from 'vitest';
import { startMandate } from '../../support/mandate.ts';
import { openShop } from '../../support/shop.ts';

test('200: everybody sees the ways an order can be delivered now, cheapest first', async () => {
  const mandate = await startMandate();
  try {
    await openShop(mandate);
    const { status, body } = await mandate.call('GET', '/api/v1/delivery-methods');
    expect([status, body.data.map(({ code }: { code: string }) => code)]).toEqual([200, ['pickup', 'overseas', 'standard']]);
    expect((await mandate.call('GET', '/api/v1/delivery-methods?x=1')).body.errors[0].code).toBe('unknown_parameter');
  } finally {
    await mandate.close();
  }
});
