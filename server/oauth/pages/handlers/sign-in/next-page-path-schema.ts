import { z } from 'zod';

/** Default path that a sign-in page redirects to. */
export const defaultPagePathAfterSignIn = '/account';

/** Path that a sign-in page redirects to. Only account pages are allowed as redirect targets, which prevents open redirects. */
export const nextPagePathSchema = z
  .string()
  .regex(/^\/account(\/[a-z0-9-]+)*$/)
  .catch(defaultPagePathAfterSignIn);
