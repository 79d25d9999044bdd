import { z } from 'zod';
import { createHttpsLinkSchema } from '../../schema/https-link-schema.ts';
import { rejectHiddenCharacters } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const descriptions = {
  logo_uri:
    "Logo. A PNG of at most 512 by 512 pixels and 32 kB, sent as a `data:` URI, is shown on the consent page. An https URL is stored, but the shop's pages never load it.",
  policy_uri:
    "URL of the application's privacy policy (RFC 7591 section 2), linked on the consent page. If no administrator registered the application, the page shows the link only if the redirect URI of the request has the same host.",
  tos_uri:
    "URL of the application's terms of service (RFC 7591 section 2), linked on the consent page under the same conditions as `policy_uri`.",
};

/** Schema of the logo and the links in responses. */
export const applicationLogoAndLinkFields = {
  logo_uri: z.string().nullable().describe(descriptions.logo_uri),
  policy_uri: z.string().nullable().describe(descriptions.policy_uri),
  tos_uri: z.string().nullable().describe(descriptions.tos_uri),
};

/** Schema of an application's links in requests. */
export const applicationLinkSchemas = {
  policy_uri: createHttpsLinkSchema('https://app.example/privacy'),
  tos_uri: createHttpsLinkSchema('https://app.example/terms'),
};

/** Schema of the logo and the links in requests. */
export const applicationLogoAndLinkInputFields = {
  logo_uri: z
    .string()
    .url()
    .max(44_000)
    // At most 1992 characters after `https://`. The pattern has two parts, because Go allows at most 1000 repetitions in a regular
    // expression.
    .regex(
      /^(https:\/\/(?:.{1,1000}|.{1000}.{1,992})|data:image\/png;base64,[A-Za-z0-9+/]+={0,2})$/,
      'must be an https URL, or a PNG image in a data: URI',
    )
    .superRefine(rejectHiddenCharacters)
    .nullable()
    .describe(descriptions.logo_uri)
    .optional(),
  policy_uri: applicationLinkSchemas.policy_uri.nullable().describe(descriptions.policy_uri).optional(),
  tos_uri: applicationLinkSchemas.tos_uri.nullable().describe(descriptions.tos_uri).optional(),
};
