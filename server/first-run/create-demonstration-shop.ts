import { readFileSync } from 'node:fs';
import { lockCheckAndStoreBranding } from '../branding/read-and-write-branding.ts';
import { parseLogoImage } from '../logos/parse-logo-image.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { DeliveryMethod } from '../delivery-methods/delivery-method.entity.ts';
import { Product, ProductStock } from '../products/product-stock-and-adjustment.entity.ts';
import shop from './demonstration-products.json' with { type: 'json' };

const currency = 'GBP';
const vatBasisPoints = 2000;

/**
 * Creates the branding, delivery methods and products. The products are those of a real shop; `demonstration-products.json` states their
 * source.
 */
export async function createDemonstrationShop(em: EntityManager): Promise<void> {
  await createDemonstrationBranding(em);
  await em.insertMany(DeliveryMethod, [
    { code: 'standard', name: 'Standard delivery, 3 to 5 days', price: 395, currency, requiresAddress: true },
    { code: 'express', name: 'Express delivery, next working day', price: 695, currency, requiresAddress: true },
    { code: 'collection', name: 'Collection from the shop', price: 0, currency, requiresAddress: false },
  ]);
  const products = shop.products.map(({ stock, ...product }) => ({
    product: em.create(Product, { ...product, currency, taxRateBps: vatBasisPoints, status: 'active' }),
    available: stock,
  }));
  await em.flush();
  await em.insertMany(
    ProductStock,
    products.map(({ product, available }) => ({ product: product.id, available })),
  );
}

async function createDemonstrationBranding(em: EntityManager): Promise<void> {
  const logo = parseLogoImage(readFileSync(new URL('demonstration-logo.png', import.meta.url)));
  if ('error' in logo) throw new Error(`the logo of the demonstration shop was rejected: ${logo.error}`);
  const branding = {
    name: 'Larkspur',
    accent_color: '#2f6f4f',
    logo,
    help_url: 'https://example.com/help',
    terms_url: 'https://example.com/terms',
    privacy_url: 'https://example.com/privacy',
    email_sender_name: 'Larkspur',
    email_footer: 'Larkspur is a demonstration shop. It sells nothing.',
  };
  await lockCheckAndStoreBranding(em, branding, () => undefined);
}
