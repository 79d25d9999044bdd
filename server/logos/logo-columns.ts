import { p } from '@mikro-orm/core';
import { logoMediaTypes, type Logo } from '@mandate/contract';
import { getLogoPath } from './logo-path.ts';
import type { LogoImage } from './parse-logo-image.ts';

/** A stored logo without the content of the image. */
export type StoredLogo = Omit<Logo, 'url'> & {
  /** Identifies the image in its URL. */
  readonly hash: string;
};

/** Entity properties that store a logo. All of them are null if the entity has no logo. */
export const logoEntityProperties = () => ({
  /** Identifies the image in its URL, so that caches can store the image indefinitely. */
  logoHash: p.text().nullable(),
  logoMediaType: p.text().nullable(),
  logoWidth: p.integer().nullable(),
  logoHeight: p.integer().nullable(),
  /** Content of the image; loaded only when the image is served. */
  logoContent: p.blob().nullable().lazy().check('length(logo_content) >= 1 and length(logo_content) <= 262144'),
});

/** The columns that identify and describe the logo of an entity. */
export type LogoColumns = {
  readonly logoHash?: string | null | undefined;
  readonly logoMediaType?: string | null | undefined;
  readonly logoWidth?: number | null | undefined;
  readonly logoHeight?: number | null | undefined;
};

/** Returns the column values that store a logo or, if `logo` is null, remove the stored logo. */
export const logoColumnsFromImage = (logo: LogoImage | null) => ({
  logoHash: logo?.hash ?? null,
  logoMediaType: logo?.mediaType ?? null,
  logoWidth: logo?.width ?? null,
  logoHeight: logo?.height ?? null,
  logoContent: logo?.content ?? null,
});

/** Returns the logo of an entity, or null if there is no logo. */
export function logoFromColumns({ logoHash: hash, logoMediaType, logoWidth: width, logoHeight: height }: LogoColumns): StoredLogo | null {
  const mediaType = logoMediaTypes.find((type) => type === logoMediaType);
  if (!hash || !mediaType || !width || !height) return null;
  return { hash, media_type: mediaType, width, height };
}

/** Returns a logo's API representation, or null if there is no logo. `issuer` is the public URL of the server. */
export const apiLogoFromStoredLogo = (logo: StoredLogo | null, issuer: string): Logo | null =>
  logo && { url: `${issuer}${getLogoPath(logo)}`, media_type: logo.media_type, width: logo.width, height: logo.height };

/** Query options for loading a logo image. */
export const logoContentFindOptions = { fields: ['logoMediaType', 'logoContent'], disableIdentityMap: true } as const;

export type LogoContent = { readonly mediaType: string; readonly content: Buffer };

type ContentColumns = { readonly logoMediaType?: string | null | undefined; readonly logoContent?: Uint8Array | null | undefined };

/**
 * Returns the logo image of an entity that was loaded with `logoContentFindOptions`, or undefined if the entity or its logo does not exist.
 */
export function logoContentFromColumns(entity: ContentColumns | null): LogoContent | undefined {
  if (!entity?.logoContent || !entity.logoMediaType) return undefined;
  return { mediaType: entity.logoMediaType, content: Buffer.from(entity.logoContent) };
}
