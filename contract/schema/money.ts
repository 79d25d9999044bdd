import { z } from 'zod';

const amountMax = Number.MAX_SAFE_INTEGER;

/** The highest price of one unit of a product or of a delivery, in minor units. */
export const priceMax = 999_999_999;

/** An exact amount in the minor unit (cents, pence, yen) of the `currency` beside it: 0 to 2^53-1. */
export const amount = z.number().int().min(0).max(amountMax);

/** What one unit costs, in the minor unit of the `currency` beside it. */
export const price = z.number().int().min(0).max(priceMax);

/** ISO 4217, upper case. */
export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code such as EUR');
