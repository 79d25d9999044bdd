import { z } from 'zod';

const amountMax = Number.MAX_SAFE_INTEGER;

/** Maximum price of one product unit or of one delivery, in minor units. */
export const maxPrice = 999_999_999;

/** An exact amount in minor units (cents, pence, yen) of the `currency` in the same object: 0 to 2^53-1. */
export const amountSchema = z.number().int().min(0).max(amountMax);

/** A unit price, in minor units of the `currency` in the same object. */
export const priceSchema = z.number().int().min(0).max(maxPrice);

/** ISO 4217 currency code, upper case. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code such as EUR');
