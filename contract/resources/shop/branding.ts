import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { acceptedLogosText, logoBodySchema, logoSchema, logoUploadRouteMetadata } from '../../schema/logo-schemas.ts';
import { createHttpsLinkSchema } from '../../schema/https-link-schema.ts';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  problemCodesOfPublicOperations,
  bodyProblemCodes,
  fileUploadProblemCodes,
  ifMatchFailureCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, ifMatchHeadersSchema, ifNoneMatchHeadersSchema } from '../../protocol/route-metadata.ts';
import { multilineTextSchema, singleLineInputSchema, singleLineResponseSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

const fails = declareProblemResponses(commonProblemTypes);

const accentColorSchema = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a color in the form #rrggbb, such as #1d4ed8');
const colorSchema = z.string().regex(/^#[0-9a-f]{6}$/);

const descriptions = {
  name: 'Name of the shop on pages and in e-mails.',
  accent_color: 'Color of buttons and links. If the contrast of the color is too low, pages use a lighter or darker color; see `colors`.',
  help_url: 'URL of the help page for customers.',
  terms_url: 'URL of the terms of service.',
  privacy_url: 'URL of the privacy policy.',
  email_sender_name: 'Sender name for e-mails; `null` means the name in the server configuration.',
  email_footer: 'Text at the end of every e-mail, such as the postal address of the shop.',
};

const themeColorsSchema = z.object({
  button: colorSchema.describe('Background color of buttons, with a contrast of at least 3:1 against the page.'),
  button_text: colorSchema.describe('Color of text on buttons, with a contrast of at least 4.5:1 against the background.'),
  link: colorSchema.describe('Color of links, with a contrast of at least 4.5:1 against the page.'),
});

export const brandingSchema = withSchemaName(
  'Branding',
  z.object({
    name: singleLineResponseSchema(60).describe(descriptions.name),
    accent_color: colorSchema.describe(descriptions.accent_color),
    colors: z
      .object({ light: themeColorsSchema, dark: themeColorsSchema })
      .describe('Colors that pages use in light and dark mode, calculated from `accent_color`.'),
    logo: logoSchema.nullable().describe('Logo; `null` if pages show the first letter of the name instead.'),
    help_url: z.string().nullable().describe(descriptions.help_url),
    terms_url: z.string().nullable().describe(descriptions.terms_url),
    privacy_url: z.string().nullable().describe(descriptions.privacy_url),
    email_sender_name: z.string().nullable().describe(descriptions.email_sender_name),
    email_footer: z.string().nullable().describe(descriptions.email_footer),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  }),
);

export const brandingUpdateSchema = withSchemaName(
  'BrandingUpdate',
  z
    .object({
      name: singleLineInputSchema(60).describe(descriptions.name).optional(),
      accent_color: accentColorSchema.describe(descriptions.accent_color).optional(),
      help_url: createHttpsLinkSchema('https://shop.example/help').nullable().describe(descriptions.help_url).optional(),
      terms_url: createHttpsLinkSchema('https://shop.example/terms').nullable().describe(descriptions.terms_url).optional(),
      privacy_url: createHttpsLinkSchema('https://shop.example/privacy').nullable().describe(descriptions.privacy_url).optional(),
      email_sender_name: singleLineInputSchema(100).nullable().describe(descriptions.email_sender_name).optional(),
      email_footer: multilineTextSchema(500).nullable().describe(descriptions.email_footer).optional(),
    })
    .strict(),
);

export const brandingRoutes = defineResource('Branding', 'Name, logo, colors and links shown on pages and in e-mails.', {
  get: {
    method: 'GET',
    path: '/branding',
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get the branding',
    description: 'Returns the name, logo, colors and links shown on pages and in e-mails. No token is required.',
    responses: { 200: brandingSchema, 304: c.noBody(), ...fails(...problemCodesOfPublicOperations) },
    metadata: declareRouteMetadata({ operationId: 'branding.get', access: 'public' }),
  },
  update: {
    method: 'PATCH',
    path: '/branding',
    headers: ifMatchHeadersSchema,
    body: brandingUpdateSchema,
    summary: 'Update the branding',
    description:
      'Updates the fields given in a JSON merge patch (RFC 7396). Omitted fields keep their values. The changes take effect immediately.',
    responses: {
      200: brandingSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'branding.update', access: ['branding.manage'] }),
  },
  setLogo: {
    method: 'PUT',
    path: '/branding/logo',
    body: logoBodySchema,
    summary: 'Set the logo',
    description: `Stores the image from the request body as the shop's logo. ${acceptedLogosText}`,
    responses: { 200: brandingSchema, ...fails(...problemCodesOfAuthorizedOperations, ...fileUploadProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'branding.setLogo', access: ['branding.manage'], ...logoUploadRouteMetadata }),
  },
  deleteLogo: {
    method: 'DELETE',
    path: '/branding/logo',
    summary: 'Delete the logo',
    description:
      'After the deletion, pages show the first letter of the shop name instead. If there is no logo to delete, the request has no effect.',
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations) },
    metadata: declareRouteMetadata({ operationId: 'branding.deleteLogo', access: ['branding.manage'] }),
  },
});

export type Branding = z.output<typeof brandingSchema>;
export type BrandingUpdate = z.output<typeof brandingUpdateSchema>;
