import { defineEntity, p } from '@mikro-orm/core';
import { logoEntityProperties } from '../logos/logo-columns.ts';

/** The shop's branding. The table has at most one row. Without a row, the defaults in `default-branding.ts` apply. */
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
    ...logoEntityProperties(),
    version: p.integer().version(),
  },
});
