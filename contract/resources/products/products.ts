import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema, integerInUrlSchema } from '../../schema/ids.ts';
import { currencySchema, priceSchema, maxPrice } from '../../schema/amount-price-and-currency-schemas.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  problemCodesOfPublicOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  ifMatchFailureCodes,
  problemCodesOfAuthorizedPosts,
} from '../../protocol/problems.ts';
import { maxStock, stockAdjustmentCreateSchema, stockAdjustmentSchema } from './stock-adjustment-schemas.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import {
  declareRouteMetadata,
  idempotencyHeadersSchema,
  ifMatchHeadersSchema,
  ifNoneMatchHeadersSchema,
} from '../../protocol/route-metadata.ts';
import {
  timestampSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
  metadataSchema,
  metadataPatchSchema,
  multilineTextSchema,
} from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const productProblemTypes = {
  sku_taken: { status: 409, title: 'The SKU is in use' },
  insufficient_stock: { status: 409, title: 'Stock would fall below zero' },
  product_in_use: { status: 409, title: 'The product is part of existing orders' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...productProblemTypes });

export const productStatuses = ['draft', 'active', 'archived'] as const;

const sku = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/, 'must be 1 to 64 printable ASCII characters');
const category = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lowercase words joined by hyphens')
  .max(64);
const taxRate = z.number().int().min(0).max(10_000);

export const productSchema = withSchemaName(
  'Product',
  z.object({
    id: idSchema,
    sku: lengthLimitedTextSchema(64, 1).describe('Stock keeping unit: the unique identifier that the shop assigned to the product.'),
    name: lengthLimitedTextSchema(200, 1),
    description: lengthLimitedTextSchema(5000),
    category: lengthLimitedTextSchema(64, 1),
    price: priceSchema.describe('Unit price including tax, in minor units of `currency`.'),
    currency: currencySchema,
    tax_rate_bps: taxRate.describe('Tax rate included in the price, in basis points: 2000 means 20%.'),
    stock: z
      .number()
      .int()
      .min(0)
      .nullable()
      .describe('Units currently available. `null` means that stock is not tracked. Units are reserved only when an order is placed.'),
    status: z.enum(productStatuses).describe('Only an `active` product is publicly listed and can be ordered.'),
    metadata: metadataSchema,
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  }),
);

const editable = {
  name: singleLineInputSchema(200),
  description: multilineTextSchema(5000),
  category: category.describe('Category: lowercase words joined by hyphens.'),
  price: priceSchema.describe('Unit price including tax, in minor units of `currency`.'),
  tax_rate_bps: taxRate.describe('Tax rate included in the price, in basis points: 2000 means 20%.'),
  metadata: metadataSchema,
};

export const productCreateSchema = withSchemaName(
  'ProductCreate',
  z
    .object({
      sku: sku.describe('Stock keeping unit; must be unique.'),
      ...editable,
      description: editable.description.default(''),
      currency: currencySchema,
      tax_rate_bps: editable.tax_rate_bps.default(0),
      metadata: metadataSchema.default({}),
      stock: z
        .number()
        .int()
        .min(0)
        .max(maxStock)
        .nullable()
        .default(null)
        .describe('Initial stock, in units. `null` means that stock is not tracked.'),
      status: z.enum(['draft', 'active']).default('draft'),
    })
    .strict(),
);

export const productUpdateSchema = withSchemaName(
  'ProductUpdate',
  z
    .object({
      ...editable,
      metadata: metadataPatchSchema,
      status: z.enum(productStatuses).describe('Status of the product. A product cannot be changed back to `draft`.'),
    })
    .partial()
    .strict(),
);

export const productReplaceSchema = withSchemaName(
  'ProductReplace',
  z
    .object({
      ...editable,
      description: editable.description.default(''),
      tax_rate_bps: editable.tax_rate_bps.default(0),
      metadata: metadataSchema.default({}),
      status: z.enum(productStatuses).describe('Status of the product. A product cannot be changed back to `draft`.'),
    })
    .strict(),
);

/** Product status filter for all lists that are restricted to the products that the caller may see. */
export const productStatusFilterSchema = commaSeparatedEnumSchema(productStatuses)
  .optional()
  .describe('Status filter (default: `active`). Other statuses require the `products.write` scope and a staff account.');

const productPath = z.object({ product_id: pathIdSchema('ID of the product.') });

export const productRoutes = defineResource('Products', "The shop's products and their stock.", {
  list: {
    method: 'GET',
    path: '/products',
    query: z
      .object({
        ...paginationParameters,
        q: singleLineInputSchema(200)
          .optional()
          .describe(
            'Search text. Every word must occur in the name, SKU or description; the last word may be incomplete. Case, accents and punctuation are ignored. If no product matches, up to 3 misspelled words are replaced by the most similar words that occur in products.',
          ),
        category: singleLineInputSchema(64).optional().describe('Only products in this category.'),
        sku: singleLineInputSchema(64).optional().describe('Only the product with this SKU.'),
        price_gte: integerInUrlSchema(0, maxPrice).optional().describe('Minimum price, in minor units.'),
        price_lte: integerInUrlSchema(0, maxPrice).optional().describe('Maximum price, in minor units.'),
        status: productStatusFilterSchema,
        sort: z
          .enum(['created_at', '-created_at', 'price', '-price', 'name', '-name', 'relevance'])
          .optional()
          .describe(
            '`-` means descending. `relevance` requires `q` and lists the best match first (default: `relevance` with `q`, otherwise `-created_at`).',
          ),
      })
      .strict(),
    summary: 'List products',
    description: 'Returns the active products. No token is required.',
    responses: {
      200: listPageSchema('ProductPage', productSchema),
      ...fails(...problemCodesOfPublicOperations, ...cursorProblemCodes, 'forbidden'),
    },
    metadata: declareRouteMetadata({ operationId: 'products.list', access: 'public' }),
  },
  get: {
    method: 'GET',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a product',
    description: 'Returns the product with its current stock. Staff can also read drafts and archived products.',
    responses: { 200: productSchema, 304: c.noBody(), ...fails(...problemCodesOfPublicOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'products.get', access: 'public' }),
  },
  create: {
    method: 'POST',
    path: '/products',
    headers: idempotencyHeadersSchema,
    body: productCreateSchema,
    summary: 'Create a product',
    description: 'Creates a product with its initial stock. A draft is visible only to staff until its status becomes `active`.',
    responses: {
      201: productSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'sku_taken'),
    },
    metadata: declareRouteMetadata({ operationId: 'products.create', access: ['products.write'], idempotent: true }),
  },
  update: {
    method: 'PATCH',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifMatchHeadersSchema,
    body: productUpdateSchema,
    summary: 'Update a product',
    description:
      'Updates the fields given in a JSON merge patch (RFC 7396). Omitted fields keep their values. Existing orders keep the previous price and name of the product.',
    responses: {
      200: productSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes, 'not_found', 'invalid_transition'),
    },
    metadata: declareRouteMetadata({ operationId: 'products.update', access: ['products.write'] }),
  },
  replace: {
    method: 'PUT',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifMatchHeadersSchema,
    body: productReplaceSchema,
    summary: 'Replace a product',
    description:
      'Replaces all fields that can be changed. Omitted fields get their default values. Requires `If-Match`, to prevent lost updates.',
    responses: {
      200: productSchema,
      ...fails(
        ...problemCodesOfAuthorizedOperations,
        ...bodyProblemCodes,
        ...ifMatchFailureCodes,
        'precondition_required',
        'not_found',
        'invalid_transition',
      ),
    },
    metadata: declareRouteMetadata({ operationId: 'products.replace', access: ['products.write'] }),
  },
  delete: {
    method: 'DELETE',
    path: '/products/:product_id',
    pathParams: productPath,
    headers: ifMatchHeadersSchema,
    summary: 'Delete a product',
    description: 'Deletes a draft product that has never been ordered. Any other product can only be archived.',
    responses: {
      204: c.noBody(),
      ...fails(...problemCodesOfAuthorizedOperations, ...ifMatchFailureCodes, 'not_found', 'product_in_use'),
    },
    metadata: declareRouteMetadata({ operationId: 'products.delete', access: ['products.write'] }),
  },
  adjustStock: {
    method: 'POST',
    path: '/products/:product_id/stock-adjustments',
    pathParams: productPath,
    headers: idempotencyHeadersSchema,
    body: stockAdjustmentCreateSchema,
    summary: 'Adjust the stock of a product',
    description:
      'Increases or decreases the stock by a number of units. The stock cannot be set to an absolute number, because that would overwrite concurrent sales. The first adjustment starts stock tracking for the product.',
    responses: {
      201: stockAdjustmentSchema,
      ...fails(...problemCodesOfAuthorizedPosts, 'not_found', 'insufficient_stock'),
    },
    metadata: declareRouteMetadata({ operationId: 'products.adjustStock', access: ['products.write'], idempotent: true }),
  },
  listStockAdjustments: {
    method: 'GET',
    path: '/products/:product_id/stock-adjustments',
    pathParams: productPath,
    query: z.object(paginationParameters).strict(),
    summary: 'List the stock adjustments of a product',
    description: 'Returns the stock adjustments of the product, newest first.',
    responses: {
      200: listPageSchema('StockAdjustmentPage', stockAdjustmentSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'not_found'),
    },
    metadata: declareRouteMetadata({ operationId: 'products.listStockAdjustments', access: ['products.write'] }),
  },
});
export type Product = z.output<typeof productSchema>;
export type ProductCreate = z.output<typeof productCreateSchema>;
export type ProductUpdate = z.output<typeof productUpdateSchema>;
export type ProductReplace = z.output<typeof productReplaceSchema>;
