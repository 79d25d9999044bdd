import { z } from 'zod';

/**
 * An https URL that pages show as a link: without user name and password, and at most 500 characters long.
 * @param example valid URL for the field, to show in the error message
 */
export const createHttpsLinkSchema = (example: string) =>
  z
    .string()
    .max(500)
    .regex(/^https:\/\/[^\s/?#:@\\"<>]+\.[^\s/?#@\\"<>]+(?:[/?#][!-~]*)?$/, `must be an https URL, such as ${example}`);
