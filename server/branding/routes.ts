import type { IncomingMessage } from 'node:http';
import { initServer } from '@ts-rest/express';
import { contract, getRouteMetadata, logoLimits, type Branding } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { assertIfMatchHeader, respondWithEtagOfChangedResource, respondWithEtagOrNotModified } from '../http/response/etag.ts';
import { createInvalidRequestProblem, createPayloadTooLargeProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable, type ProblemDetail } from '../http/problem-details/translatable-text.ts';
import { lowerChunkedBodyLimit } from '../http/request/reject-chunked-body-over-limit.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import { changeBrandingAndAudit } from './change-branding-and-audit.ts';
import type { ShopBranding } from './default-branding.ts';
import { logoPath } from './logo-path.ts';
import { readShopBranding, type BrandingChange } from './read-and-write-branding.ts';
import { parseLogoImage, type LogoError, type LogoImage } from './parse-logo-image.ts';
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
    brandingResponse(issuer, await changeBranding(em, req, body, (current) => assertIfMatchHeader(req, etagName, current))),
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

const logoErrorTexts: Readonly<Record<LogoError, ProblemDetail>> = {
  too_many_bytes: translatable`The image is larger than ${{ bytes: logoLimits.bytes }} bytes. Send a smaller file.`,
  unsupported_format: 'The file is not a PNG, JPEG or WebP image. Convert it to one of these formats.',
  unsupported_size: translatable`The width and the height of the image must be between ${{ minimum: logoLimits.minSide }} and ${{ maximum: logoLimits.maxSide }} pixels. Resize the image.`,
};

type UploadRequest = MatchedRequest & IncomingMessage;

async function readUploadedLogo(req: UploadRequest): Promise<LogoImage> {
  const image = parseLogoImage(await readBody(req));
  if ('error' in image) throw createInvalidRequestProblem({ in: 'body', code: 'invalid_image', detail: logoErrorTexts[image.error] });
  return image;
}

/** Reads the body into memory, up to the maximum size of a logo. */
async function readBody(req: UploadRequest): Promise<Buffer> {
  const { bodyMax = logoLimits.bytes } = getRouteMetadata(contract.branding.setLogo);
  lowerChunkedBodyLimit(req, bodyMax);
  if (Number(req.get('content-length') ?? 0) > bodyMax) throw createPayloadTooLargeProblem(bodyMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // If reading stops early, the connection stays open, so that the client receives the error response.
    const body: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bodyMax) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw createProblem('invalid_request', { detail: 'The body ended too early.', cause });
  }
  if (bytes > bodyMax) throw createPayloadTooLargeProblem(bodyMax);
  return Buffer.concat(chunks);
}

const brandingResponse = (issuer: string, { logo, ...branding }: ShopBranding): Branding => ({
  ...branding,
  colors: calculateThemeColors(branding.accent_color),
  logo: logo && { url: `${issuer}${logoPath(logo)}`, media_type: logo.media_type, width: logo.width, height: logo.height },
});
