import { z } from 'zod';

/** A shop with sample data, and the IDs that are needed to place an order. */
export type MedusaShop = {
  /** Sends requests to the Store API without a customer's token. */
  readonly store: MedusaApi;
  readonly region: string;
  readonly shippingOption: string;
  readonly variants: readonly string[];
};

/** Sends all requests to an API with the same headers. */
export class MedusaApi {
  readonly #origin: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(origin: string, headers: Readonly<Record<string, string>>) {
    this.#origin = origin;
    this.headers = headers;
  }

  withToken(token: string): MedusaApi {
    return new MedusaApi(this.#origin, { ...this.headers, authorization: `Bearer ${token}` });
  }

  get(path: string): Promise<unknown> {
    return this.#send('GET', path);
  }

  post(path: string, body: object): Promise<unknown> {
    return this.#send('POST', path, JSON.stringify(body));
  }

  async #send(method: 'GET' | 'POST', path: string, body?: string): Promise<unknown> {
    const headers = { ...this.headers, 'content-type': 'application/json' };
    const response = await fetch(`${this.#origin}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`Medusa responded to ${method} ${path} with ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}

type Credentials = { readonly email: string; readonly password: string };
const withId = z.object({ id: z.string() });

/** Creates a region, a warehouse, a delivery method and products through the Admin API. */
export async function fillMedusa(origin: string, admin: Credentials, productCount: number): Promise<MedusaShop> {
  const login = await new MedusaApi(origin, {}).post('/auth/user/emailpass', admin);
  const api = new MedusaApi(origin, {}).withToken(z.object({ token: z.string() }).parse(login).token);
  const regionInput = {
    name: 'United Kingdom',
    currency_code: 'gbp',
    countries: ['gb'],
    payment_providers: ['pp_system_default'],
    automatic_taxes: false,
  };
  const { region } = z.object({ region: withId }).parse(await api.post('/admin/regions', regionInput));
  const channel = await findOrCreate(api, '/admin/sales-channels', 'sales_channels', 'sales_channel', { name: 'Shop' });
  const profile = await findOrCreate(api, '/admin/shipping-profiles', 'shipping_profiles', 'shipping_profile', {
    name: 'Default',
    type: 'default',
  });
  const location = await createWarehouse(api, channel);
  const shippingOption = await createShippingOption(api, location, profile);
  const keyInput = { title: 'Shop', type: 'publishable' };
  const { api_key: key } = z.object({ api_key: withId.extend({ token: z.string() }) }).parse(await api.post('/admin/api-keys', keyInput));
  await api.post(`/admin/api-keys/${key.id}/sales-channels`, { add: [channel] });
  const variants = await createProducts(api, productCount, { channel, profile });
  await fillWarehouse(api, location);
  return { store: new MedusaApi(origin, { 'x-publishable-api-key': key.token }), region: region.id, shippingOption, variants };
}

/** Returns the ID of the first object in a list. Creates an object if the list is empty, that is, if no migration has created an object. */
async function findOrCreate(api: MedusaApi, path: string, listName: string, name: string, input: object): Promise<string> {
  const list = z.object({ [listName]: z.array(withId) }).parse(await api.get(path));
  const [first] = list[listName] ?? [];
  if (first) return first.id;
  const created = z.object({ [name]: withId }).parse(await api.post(path, input));
  return created[name]?.id ?? '';
}

async function createWarehouse(api: MedusaApi, channel: string): Promise<string> {
  const input = { name: 'Warehouse', address: { address_1: '1 High Street', city: 'London', country_code: 'gb' } };
  const { stock_location: location } = z.object({ stock_location: withId }).parse(await api.post('/admin/stock-locations', input));
  await api.post(`/admin/stock-locations/${location.id}/sales-channels`, { add: [channel] });
  await api.post(`/admin/stock-locations/${location.id}/fulfillment-providers`, { add: ['manual_manual'] });
  return location.id;
}

async function createShippingOption(api: MedusaApi, location: string, profile: string): Promise<string> {
  const sets = z.object({ stock_location: z.object({ fulfillment_sets: z.tuple([withId]).rest(withId) }) });
  const path = `/admin/stock-locations/${location}/fulfillment-sets?fields=*fulfillment_sets`;
  const [set] = sets.parse(await api.post(path, { name: 'Delivery', type: 'shipping' })).stock_location.fulfillment_sets;
  const zones = z.object({ fulfillment_set: z.object({ service_zones: z.tuple([withId]).rest(withId) }) });
  const zoneInput = { name: 'United Kingdom', geo_zones: [{ type: 'country', country_code: 'gb' }] };
  const created = await api.post(`/admin/fulfillment-sets/${set.id}/service-zones`, zoneInput);
  const [zone] = zones.parse(created).fulfillment_set.service_zones;
  const option = await api.post('/admin/shipping-options', {
    name: 'Standard',
    service_zone_id: zone.id,
    shipping_profile_id: profile,
    provider_id: 'manual_manual',
    price_type: 'flat',
    type: { label: 'Standard', description: 'Standard delivery', code: 'standard' },
    prices: [{ currency_code: 'gbp', amount: 5 }],
    rules: [
      { attribute: 'enabled_in_store', value: 'true', operator: 'eq' },
      { attribute: 'is_return', value: 'false', operator: 'eq' },
    ],
  });
  return z.object({ shipping_option: withId }).parse(option).shipping_option.id;
}

const productsPerRequest = 50;

/** Creates products with one variant each, and returns the IDs of the variants. */
async function createProducts(
  api: MedusaApi,
  count: number,
  { channel, profile }: { readonly channel: string; readonly profile: string },
): Promise<readonly string[]> {
  const schema = z.object({ created: z.array(z.object({ variants: z.array(withId) })) });
  const variants: string[] = [];
  while (variants.length < count) {
    const create = Array.from({ length: Math.min(productsPerRequest, count - variants.length) }, (_, at) => {
      const n = variants.length + at + 1;
      const prices = [{ currency_code: 'gbp', amount: 1 + (n % 900) / 100 }];
      return {
        title: `Product ${n}`,
        handle: `product-${n}`,
        status: 'published',
        shipping_profile_id: profile,
        sales_channels: [{ id: channel }],
        options: [{ title: 'Size', values: ['One size'] }],
        variants: [{ title: 'One size', sku: `SKU-${n}`, manage_inventory: true, options: { Size: 'One size' }, prices }],
      };
    });
    const { created } = schema.parse(await api.post('/admin/products/batch', { create }));
    variants.push(...created.flatMap((product) => product.variants.map(({ id }) => id)));
  }
  return variants;
}

const itemsPerRequest = 100;

/** Adds a large stock of every product to the warehouse. */
async function fillWarehouse(api: MedusaApi, location: string): Promise<void> {
  const schema = z.object({ inventory_items: z.array(withId), count: z.number() });
  for (let offset = 0; ; offset += itemsPerRequest) {
    const list = await api.get(`/admin/inventory-items?fields=id&limit=${itemsPerRequest}&offset=${offset}`);
    const { inventory_items: items, count } = schema.parse(list);
    const create = items.map(({ id }) => ({ inventory_item_id: id, location_id: location, stocked_quantity: 100_000_000 }));
    await api.post('/admin/inventory-items/location-levels/batch', { create });
    if (offset + itemsPerRequest >= count) return;
  }
}
