import { z } from 'zod';

const amountMax = Number.MAX_SAFE_INTEGER;

/** Maximum price of one unit of a product or of a delivery, in minor units. */
export const priceMax = 999_999_999;

/** An exact amount in minor units (cents, pence, yen) of the `currency` in the same object: 0 to 2^53-1. */
export const amount = z.number().int().min(0).max(amountMax);

/** A unit price, in minor units of the `currency` in the same object. */
export const price = z.number().int().min(0).max(priceMax);

/** ISO 4217 currency code, upper case. */
export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code such as EUR');
