import { brandingUpdateSchema, logoLimits, type BrandingUpdate } from '@mandate/contract';
import { z } from 'zod';
import { getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { changeBrandingAndAudit } from '../../../../branding/change-branding-and-audit.ts';
import type { ShopBranding } from '../../../../branding/default-branding.ts';
import { readShopBranding, type BrandingChange } from '../../../../branding/read-and-write-branding.ts';
import { parseLogoImage } from '../../../../logos/parse-logo-image.ts';
import { isActiveAdministrator, lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';
import { sendPage } from '../../routing/page-context.ts';
import { brandingFieldNames, brandingPage, type BrandingFieldName } from '../../views/account/branding-page.ts';
import { noticePage } from '../../views/message-pages.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';

type Handler = (request: AccountRequest) => Promise<void>;

export const brandingPagePath = '/account/branding';

/**
 * Maximum size of the upload form. This limit is higher than the limit for logos, so that the page can report an image that is too large.
 */
export const maxLogoFormBytes = 3 * logoLimits.bytes;

/** Calls the handler only for administrators. Other users receive a 404 response. */
const requireAdministrator =
  (handle: Handler): Handler =>
  async (request) => {
    if (await isActiveAdministrator(request.context.em, request.account.id)) return handle(request);
    const { settings } = request.context;
    const { title, text } = settings.messages.notFound;
    return sendPage(request.context, request.res, noticePage(settings, title, text), { status: 404 });
  };

/** Handles `GET /account/branding`. */
export const showBranding = requireAdministrator(async (request) =>
  renderForm(request, { saved: request.req.query['saved'] !== undefined }),
);

const text = z.string().catch('');
const versionField = z.object({ version: z.coerce.number().int().catch(0) });
const uploadForm = z.object({ logo: z.instanceof(File) });

/** Thrown if the branding has changed since the browser loaded the form. */
class OutdatedBrandingError extends Error {
  override readonly name = 'OutdatedBrandingError';
}

/** Handles `POST /account/branding`: changes everything except the logo. */
export const submitBranding = requireAdministrator(async (request) => {
  const { req, context } = request;
  const body = z.record(z.unknown()).catch({}).parse(req.body);
  const typed = readTypedFields(body);
  const parsed = parseFields(typed);
  const { messages } = context.settings;
  if ('invalid' in parsed) {
    return renderForm(request, { typed, faults: parsed.invalid.map((field) => ({ field, text: messages.brandingErrors[field] })) });
  }
  const { version } = versionField.parse(body);
  try {
    await changeBranding(request, parsed.update, (current) => {
      if (current.version !== version) throw new OutdatedBrandingError('the branding has changed');
    });
  } catch (error) {
    if (!(error instanceof OutdatedBrandingError)) throw error;
    return renderForm(request, { faults: [{ field: 'name', text: messages.branding.changed }] });
  }
  return request.res.redirect(303, `${brandingPagePath}?saved`);
});

/** Handles `POST /account/branding/logo`: stores the uploaded image. */
export const submitLogo = requireAdministrator(async (request) => {
  const { logo } = uploadForm.safeParse(request.req.body).data ?? {};
  const showError = (error: string): Promise<void> => renderForm(request, { faults: [{ field: 'logo', text: error }] });
  if (!logo || logo.size === 0) return showError(request.context.settings.messages.branding.logoMissing);
  const image = parseLogoImage(Buffer.from(await logo.arrayBuffer()));
  if ('error' in image) return showError(request.context.settings.messages.logoErrors[image.error]);
  await changeBranding(request, { logo: image }, () => undefined);
  return request.res.redirect(303, `${brandingPagePath}?saved`);
});

/** Handles `POST /account/branding/logo/remove`. */
export const submitLogoRemoval = requireAdministrator(async (request) => {
  await changeBranding(request, { logo: null }, () => undefined);
  return request.res.redirect(303, `${brandingPagePath}?saved`);
});

async function changeBranding(
  request: AccountRequest,
  change: BrandingChange,
  check: (current: ShopBranding) => void,
): Promise<ShopBranding> {
  const { context, req, account } = request;
  return context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    return changeBrandingAndAudit(em, { source: getClientAddressAndUserAgent(req), actorId: account.id }, change, check);
  });
}

const readTypedFields = (body: Record<string, unknown>): Record<BrandingFieldName, string> =>
  fieldRecord((field) => text.parse(body[field]));

/**
 * Converts the form to a branding update. An empty field becomes `null`, which deletes the value. Returns the invalid fields if there are
 * any.
 */
function parseFields(typed: Record<BrandingFieldName, string>): { update: BrandingUpdate } | { invalid: BrandingFieldName[] } {
  const values = fieldRecord((field) => {
    const value = typed[field].trim();
    return value === '' ? null : value;
  });
  const { data, error } = brandingUpdateSchema.safeParse({
    ...values,
    email_footer: values.email_footer?.replaceAll('\r\n', '\n') ?? null,
  });
  if (data) return { update: data };
  return { invalid: brandingFieldNames.filter((field) => error.issues.some(({ path }) => path[0] === field)) };
}

/** Returns the branding as strings for the form fields. */
const typedFromBranding = (branding: ShopBranding): Record<BrandingFieldName, string> => fieldRecord((field) => branding[field] ?? '');

const fieldRecord = <Value>(valueOf: (field: BrandingFieldName) => Value): Record<BrandingFieldName, Value> => ({
  name: valueOf('name'),
  accent_color: valueOf('accent_color'),
  help_url: valueOf('help_url'),
  terms_url: valueOf('terms_url'),
  privacy_url: valueOf('privacy_url'),
  email_sender_name: valueOf('email_sender_name'),
  email_footer: valueOf('email_footer'),
});

type FormState = { typed?: Record<BrandingFieldName, string>; saved?: boolean; faults?: readonly FieldError[] };

async function renderForm({ context, req, res }: AccountRequest, { typed, saved = false, faults = [] }: FormState): Promise<void> {
  const branding = await readShopBranding(context.em);
  const content = { csrf: context.forms.issue(req, res), branding, typed: typed ?? typedFromBranding(branding), saved, faults };
  sendPage(context, res, brandingPage(context.settings, content), { status: faults.length > 0 ? 400 : 200 });
}
