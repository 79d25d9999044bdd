import { initServer } from '@ts-rest/express';
import { contract, type Branding } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import {
  rejectIfMatchMismatch,
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
} from '../http/response/etag-and-conditional-requests.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import { apiLogoFromStoredLogo } from '../logos/logo-columns.ts';
import { readUploadedLogo } from '../logos/read-uploaded-logo.ts';
import { changeBrandingAndAudit } from './change-branding-and-audit.ts';
import type { ShopBranding } from './default-branding.ts';
import { readShopBranding, type BrandingChange } from './read-and-write-branding.ts';
import { calculateThemeColors } from './theme-colors.ts';

export type BrandingDependencies = Pick<HandlerDependencies, 'em'> & {
  /** Public URL of the server, which serves the logo. */
  readonly issuer: string;
};

const etagName = 'branding';

export const brandingRoutes = (dependencies: BrandingDependencies) =>
  initServer().router(contract.branding, {
    get: (request) => handleGetBranding(dependencies, request),
    update: (request) => handleUpdateBranding(dependencies, request),
    setLogo: (request) => handleSetLogo(dependencies, request),
    deleteLogo: (request) => handleDeleteLogo(dependencies, request),
  });

const handleGetBranding: RouteHandler<typeof contract.branding.get, BrandingDependencies> = async ({ em, issuer }, { req, res }) =>
  respondWithEtagOrNotModified(req, res, etagName, brandingResponse(issuer, await readShopBranding(em)));

const handleUpdateBranding: RouteHandler<typeof contract.branding.update, BrandingDependencies> = async (
  { em, issuer },
  { body, req, res },
) =>
  respondWithEtagOfChangedResource(
    res,
    etagName,
    brandingResponse(issuer, await changeBranding(em, req, body, (current) => rejectIfMatchMismatch(req, etagName, current))),
  );

const handleSetLogo: RouteHandler<typeof contract.branding.setLogo, BrandingDependencies> = async ({ em, issuer }, { req }) => {
  const logo = await readUploadedLogo(req);
  return { status: 200, body: brandingResponse(issuer, await changeBranding(em, req, { logo })) };
};

const handleDeleteLogo: RouteHandler<typeof contract.branding.deleteLogo, BrandingDependencies> = async ({ em }, { req }) => {
  await changeBranding(em, req, { logo: null });
  return { status: 204, body: undefined };
};

type BrandingRequest = MatchedRequest & Parameters<typeof getClientAddressAndUserAgent>[0];

function changeBranding(
  em: EntityManager,
  req: BrandingRequest,
  change: BrandingChange,
  assertVersion?: (current: ShopBranding) => void,
): Promise<ShopBranding> {
  const { user, clientId } = requirePrincipal(req);
  const actor = { source: getClientAddressAndUserAgent(req), actorId: user?.id, clientId };
  return changeBrandingAndAudit(em, actor, change, assertVersion);
}

const brandingResponse = (issuer: string, { logo, ...branding }: ShopBranding): Branding => ({
  ...branding,
  colors: calculateThemeColors(branding.accent_color),
  logo: apiLogoFromStoredLogo(logo, issuer),
});
