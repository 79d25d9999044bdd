import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId, urlInteger } from '../../schema/ids.ts';
import { currency, price, priceMax } from '../../schema/money.ts';
import { commaList, page, pageQuery } from '../../schema/pagination.ts';
import {
  commonProblems,
  failuresOf,
  guarded,
  open,
  withBody,
  withCursor,
  withIdempotencyKey,
  withIfMatch,
} from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders, ifMatchHeaders, ifNoneMatchHeaders } from '../../protocol/route-metadata.ts';
import { instant, line, metadata, metadataPatch, text } from '../../schema/text.ts';

const c = initContract();

export const productProblems = {
  sku_taken: { status: 409, title: 'The SKU is in use' },
  insufficient_stock: { status: 409, title: 'Stock would fall below zero' },
  product_in_use: { status: 409, title: 'The product stands in orders' },
} as const;

const fails = failuresOf({ ...commonProblems, ...productProblems });

export const productStatuses = ['draft', 'active', 'archived'] as const;
/** Units a product can have in stock, and an adjustment can move. */
export const stockMax = 2_000_000_000;

const sku = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/, 'must be 1 to 64 printable ASCII characters');
const category = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lower-case words joined by hyphens')
  .max(64);
const taxRate = z.number().int().min(0).max(10_000);

export const product = component(
  'Product',
  z.object({
    id,
    sku: z.string().min(1).max(64).describe("The shop's own name of the product; unique."),
    name: z.string().min(1).max(200),
    description: z.string().max(5000),
    category: z.string().min(1).max(64),
    price: price.describe('What one unit costs, tax included, in minor units of `currency`.'),
    currency,
    tax_rate_bps: taxRate.describe('Tax contained in the price, in hundredths of a percent: 2000 is 20 %.'),
    stock: z.number().int().min(0).nullable().describe('Units available at this moment; only an order takes them. `null`: not counted.'),
    status: z.enum(productStatuses).describe('Only an `active` product is listed to the public and can be ordered.'),
    metadata,
    version: z.number().int().min(1).describe('Counts the changes.'),
    created_at: instant,
    updated_at: instant,
  }),
);

const editable = {
  name: line(200),
  description: text(5000),
  category: category.describe('Lower-case words joined by hyphens.'),
  price: price.describe('What one unit costs, tax included, in minor units of `currency`.'),
  tax_rate_bps: taxRate.describe('Tax contained in the price, in hundredths of a percent: 2000 is 20 %.'),
  metadata,
};

export const productCreate = component(
  'ProductCreate',
  z
    .object({
      sku: sku.describe("The shop's own name of the product; must not be in use."),
      ...editable,
      description: editable.description.default(''),
      currency,
      tax_rate_bps: editable.tax_rate_bps.default(0),
      metadata: metadata.default({}),
      stock: z.number().int().min(0).max(stockMax).nullable().default(null).describe('Units to begin with. `null`: stock is not counted.'),
      status: z.enum(['draft', 'active']).default('draft'),
    })
    .strict(),
);

export const productUpdate = component(
  'ProductUpdate',
  z
    .object({ ...editable, metadata: metadataPatch, status: z.enum(productStatuses).describe('`draft` cannot be returned to.') })
    .partial()
    .strict(),
);

export const productReplace = component(
  'ProductReplace',
  z
    .object({
      ...editable,
      description: editable.description.default(''),
      tax_rate_bps: editable.tax_rate_bps.default(0),
      metadata: metadata.default({}),
      status: z.enum(productStatuses).describe('`draft` cannot be returned to.'),
    })
    .strict(),
);

export const stockAdjustmentReasons = ['received', 'correction', 'damaged', 'returned'] as const;

export const stockAdjustment = component(
  'StockAdjustment',
  z.object({
    id,
    product_id: id,
    delta: z.number().int().describe('Units added, or taken away when negative.'),
    stock_after: z.number().int().min(0).describe('Units available right after this change.'),
    reason: z.enum(stockAdjustmentReasons),
    note: z.string().max(500).nullable(),
    created_at: instant,
  }),
);

export const stockAdjustmentCreate = component(
  'StockAdjustmentCreate',
  z
    .object({
      delta: z
        .number()
        .int()
        .min(-stockMax)
        .max(stockMax)
        .refine((delta) => delta !== 0, { message: 'must not be 0' })
        .describe('Units to add, or to take away when negative.'),
      reason: z.enum(stockAdjustmentReasons),
      note: text(500).optional(),
    })
    .strict(),
);

/** The same for every list that depends on which products the caller may see. */
export const productStatusFilter = commaList(productStatuses)
  .optional()
  .describe('Statuses other than `active` require the `products.write` scope and a staff account (default: `active`).');

const productPath = z.object({ product_id: pathId('Identifier of the product.') });

export const products = c.router({
  list: {
    method: 'GET',
    path: '/products',
    query: z
      .object({
        ...pageQuery,
        q: line(200)
          .optional()
          .describe(
            'Search text: every word must occur in the name, SKU or description, and the last word may be incomplete. Case, accents and punctuation do not matter. If no product matches, up to 3 misspelled words are replaced by the most similar words that occur in products.',
          ),
        category: line(64).optional().describe('Only this category.'),
        sku: line(64).optional().describe('Only the product with this SKU.'),
        price_gte: urlInteger(0, priceMax).optional().describe('Only products that cost this or more, in minor units.'),
        price_lte: urlInteger(0, priceMax).optional().describe('Only products that cost this or less, in minor units.'),
        status: productStatusFilter,
        sort: z
          .enum(['created_at', '-created_at', 'price', '-price', 'name', '-name', 'relevance'])
          .optional()
          .describe(
            '`-` means descending. `relevance` requires `q` and lists the best match first (default: `relevance` with `q`, otherwise `-created_at`).',
          ),
      })
      .strict(),
    summary: 'List products',
    responses: {
      200: page('ProductPage', product),
      ...fails(...open, ...withCursor, 'forbidden'),
    },
    metadata: describedBy({ operationId: 'products.list', access: 'public' }),
  },
  get: {
    method: 'GET',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifNoneMatchHeaders,
    summary: 'Get a product',
    responses: { 200: product, 304: c.noBody(), ...fails(...open, 'not_found') },
    metadata: describedBy({ operationId: 'products.get', access: 'public' }),
  },
  create: {
    method: 'POST',
    path: '/products',
    headers: idempotencyHeaders,
    body: productCreate,
    summary: 'Create a product',
    responses: { 201: product, ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'sku_taken') },
    metadata: describedBy({ operationId: 'products.create', access: ['products.write'], idempotent: true }),
  },
  update: {
    method: 'PATCH',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifMatchHeaders,
    body: productUpdate,
    summary: 'Change a product',
    description: 'A merge patch (RFC 7396): what is absent stays as it is. Orders keep the price and name they were placed with.',
    responses: { 200: product, ...fails(...guarded, ...withBody, ...withIfMatch, 'not_found', 'invalid_transition') },
    metadata: describedBy({ operationId: 'products.update', access: ['products.write'] }),
  },
  replace: {
    method: 'PUT',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifMatchHeaders,
    body: productReplace,
    summary: 'Replace a product',
    description:
      'Sets everything that can be changed; what is absent gets its default. Needs `If-Match`, so that nobody overwrites what they have not seen.',
    responses: {
      200: product,
      ...fails(...guarded, ...withBody, ...withIfMatch, 'precondition_required', 'not_found', 'invalid_transition'),
    },
    metadata: describedBy({ operationId: 'products.replace', access: ['products.write'] }),
  },
  delete: {
    method: 'DELETE',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifMatchHeaders,
    summary: 'Delete a product',
    description: 'Only a draft that was never ordered; archive it otherwise.',
    responses: { 204: c.noBody(), ...fails(...guarded, ...withIfMatch, 'not_found', 'product_in_use') },
    metadata: describedBy({ operationId: 'products.delete', access: ['products.write'] }),
  },
  adjustStock: {
    method: 'POST',
    path: '/products/:product_id/stock-adjustments',
    pathParams: productPath,
    headers: idempotencyHeaders,
    body: stockAdjustmentCreate,
    summary: 'Adjust the stock of a product',
    description:
      'Stock changes by steps, never by setting a number, so that no sale in between is lost. The first adjustment of a product begins the counting.',
    responses: { 201: stockAdjustment, ...fails(...guarded, ...withBody, ...withIdempotencyKey, 'not_found', 'insufficient_stock') },
    metadata: describedBy({ operationId: 'products.adjustStock', access: ['products.write'], idempotent: true }),
  },
  listStockAdjustments: {
    method: 'GET',
    path: '/products/:product_id/stock-adjustments',
    pathParams: productPath,
    query: z.object(pageQuery).strict(),
    summary: 'List stock adjustments of a product',
    description: 'Newest first.',
    responses: { 200: page('StockAdjustmentPage', stockAdjustment), ...fails(...guarded, ...withCursor, 'not_found') },
    metadata: describedBy({ operationId: 'products.listStockAdjustments', access: ['products.write'] }),
  },
});
export type Product = z.output<typeof product>;
export type ProductCreate = z.output<typeof productCreate>;
export type ProductUpdate = z.output<typeof productUpdate>;
export type StockAdjustment = z.output<typeof stockAdjustment>;
export type StockAdjustmentCreate = z.output<typeof stockAdjustmentCreate>;
export type ProductReplace = z.output<typeof productReplace>;
