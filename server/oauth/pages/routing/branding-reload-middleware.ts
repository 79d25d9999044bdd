import type { RequestHandler } from 'express';
import type { Middleware } from 'koa';
import { oauthEndpointPaths } from '../../protocol/endpoint-paths-and-audiences.ts';
import type { PageSettings } from '../views/page-layout-and-form-fields.ts';

/** Creates middleware that reads the current branding before a page is rendered. */
export const createBrandingReloadMiddleware =
  (settings: Pick<PageSettings, 'refreshBranding'>): RequestHandler =>
  async (_req, _res, next) => {
    await settings.refreshBranding();
    next();
  };

const { code_verification: devicePages, end_session: signOutPages } = oauthEndpointPaths;

/**
 * Reads the current branding for requests to the provider endpoints that always show a page. Error pages of other endpoints read the
 * branding themselves.
 */
export const createOidcPagesBrandingReloadMiddleware =
  (settings: Pick<PageSettings, 'refreshBranding'>): Middleware =>
  async ({ path }, next) => {
    if ([devicePages, signOutPages].some((page) => path === page || path.startsWith(`${page}/`))) await settings.refreshBranding();
    await next();
  };
