import { z } from 'zod';

/** Path to which a sign-in page redirects by default. */
export const startOfAccountPages = '/account';

/** Path to which a sign-in page redirects. Only account pages are allowed as redirect targets, which prevents open redirects. */
export const nextPagePathSchema = z
  .string()
  .regex(/^\/account(\/[a-z0-9-]+)*$/)
  .catch(startOfAccountPages);
