import { defineEntity, p } from '@mikro-orm/core';

/** The shop's branding: at most one row. Without a row, the defaults apply (`default-branding.ts`). */
export const BrandingEntity = defineEntity({
  name: 'BrandingEntity',
  tableName: 'branding',
  properties: {
    id: p.integer().primary().autoincrement(false).check('id = 1'),
    name: p.text().check('length(name) >= 1 and length(name) <= 60'),
    accentColor: p.text().check(`accent_color ~ '^#[0-9a-f]{6}$'`),
    helpUrl: p.text().nullable(),
    termsUrl: p.text().nullable(),
    privacyUrl: p.text().nullable(),
    emailSenderName: p.text().nullable(),
    emailFooter: p.text().nullable(),
    /** Identifies the image in its URL, so that caches can store the image indefinitely. */
    logoHash: p.text().nullable(),
    logoMediaType: p.text().nullable(),
    logoWidth: p.integer().nullable(),
    logoHeight: p.integer().nullable(),
    /** Content of the image, which is loaded only to serve the image. */
    logoContent: p.blob().nullable().lazy().check('length(logo_content) >= 1 and length(logo_content) <= 262144'),
    version: p.integer().version(),
  },
});
