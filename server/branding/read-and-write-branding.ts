import { type EntityData, type InferEntity, LockMode } from '@mikro-orm/core';
import type { BrandingUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../database/queries/insert-if-absent.ts';
import {
  logoColumnsFromImage,
  logoContentFromColumns,
  logoContentFindOptions,
  logoFromColumns,
  type LogoContent,
} from '../logos/logo-columns.ts';
import type { LogoImage } from '../logos/parse-logo-image.ts';
import { BrandingEntity } from './branding.entity.ts';
import { defaultShopBranding, type ShopBranding } from './default-branding.ts';

type Entity = InferEntity<typeof BrandingEntity>;

const singleRowId = 1;

/** Reads the branding, without the content of the logo. */
export async function readShopBranding(em: EntityManager): Promise<ShopBranding> {
  const entity = await em.findOne(BrandingEntity, { id: singleRowId }, { disableIdentityMap: true });
  return entity ? shopBrandingFromEntity(entity) : defaultShopBranding;
}

/** Reads the logo with this hash; undefined if the shop has a different logo or no logo. */
export const readShopLogo = async (em: EntityManager, hash: string): Promise<LogoContent | undefined> =>
  logoContentFromColumns(await em.findOne(BrandingEntity, { id: singleRowId, logoHash: hash }, logoContentFindOptions));

/** Default values for the row that is inserted when the branding is changed for the first time. */
const defaultColumns = { name: defaultShopBranding.name, accentColor: defaultShopBranding.accent_color };

/** A change to the branding. Absent fields keep their values, and `logo: null` deletes the logo. */
export type BrandingChange = BrandingUpdate & { readonly logo?: LogoImage | null };

/**
 * Changes the branding. Requires a transaction.
 * @param check called with the current branding after its row has been locked; throws if the caller expects a different version
 */
export async function lockCheckAndStoreBranding(
  em: EntityManager,
  change: BrandingChange,
  check: (current: ShopBranding) => void,
): Promise<ShopBranding> {
  await insertIfAbsent(em, BrandingEntity, { id: singleRowId, ...defaultColumns });
  const entity = await em.findOneOrFail(BrandingEntity, { id: singleRowId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  check(shopBrandingFromEntity(entity));
  em.assign(entity, columnsOf(change));
  await em.flush();
  return shopBrandingFromEntity(entity);
}

type Columns = Omit<EntityData<Entity>, 'id' | 'version'>;

/** Returns the column values for the fields that the change specifies. */
function columnsOf({ logo, ...change }: BrandingChange): Columns {
  const columns = {
    name: change.name,
    accentColor: change.accent_color?.toLowerCase(),
    helpUrl: change.help_url,
    termsUrl: change.terms_url,
    privacyUrl: change.privacy_url,
    emailSenderName: change.email_sender_name,
    emailFooter: change.email_footer,
    ...(logo !== undefined && logoColumnsFromImage(logo)),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

const shopBrandingFromEntity = (entity: Entity): ShopBranding => ({
  name: entity.name,
  accent_color: entity.accentColor,
  logo: logoFromColumns(entity),
  help_url: entity.helpUrl ?? null,
  terms_url: entity.termsUrl ?? null,
  privacy_url: entity.privacyUrl ?? null,
  email_sender_name: entity.emailSenderName ?? null,
  email_footer: entity.emailFooter ?? null,
  version: entity.version,
});
