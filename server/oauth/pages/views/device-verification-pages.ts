import type { Client, ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import { confirmDevicePage, enterUserCodePage } from './user-code-pages.ts';
import type { Html } from '../../../http/response/html-template.ts';
import type { PageSettings } from './page-layout-and-form-fields.ts';
import { createPageSecurityHeaders } from '../assets/page-security-headers.ts';
import { errorPage, noticePage } from './message-pages.ts';

const formSecret = z.object({ state: z.object({ secret: z.string() }) });
const readFormSecret = (ctx: KoaContextWithOIDC): string => formSecret.parse(ctx.oidc.session).state.secret;

/** Formats a user code as `ABCD-EFGH`. Returns other input unchanged, up to 20 characters. */
export const formatUserCode = (code: string): string => {
  const letters = code.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : code.slice(0, 20);
};

/** Creates the page handlers for the device flow (RFC 8628 section 3.3). */
export function createDeviceVerificationPages(settings: PageSettings, issuer: string) {
  const { device, failure } = settings.messages;
  const show = (ctx: KoaContextWithOIDC, html: Html): void => {
    ctx.type = 'html';
    ctx.set(createPageSecurityHeaders(issuer));
    ctx.body = html.toString();
  };
  return {
    tooManyCodes: (ctx: KoaContextWithOIDC): void => show(ctx, noticePage(settings, device.tooManyTitle, device.tooMany)),
    askForCode: async (ctx: KoaContextWithOIDC, _form: string, _out?: ErrorOut, error?: Error & { userCode?: string }): Promise<void> => {
      if (error === undefined) return show(ctx, enterUserCodePage(settings, { secret: readFormSecret(ctx), code: codeFromUrl(ctx) }));
      if (error.name === 'AbortedError') return show(ctx, noticePage(settings, device.refusedTitle, device.refused));
      const text = errorTexts[error.name]?.(settings.messages);
      if (text === undefined) return show(ctx, errorPage(settings, failure.expiredTitle, device.startAgain));
      const faults = [{ field: 'user_code', text }];
      return show(ctx, enterUserCodePage(settings, { secret: readFormSecret(ctx), code: formatUserCode(error.userCode ?? ''), faults }));
    },
    confirmDevice: async (ctx: KoaContextWithOIDC, _form: string, client: Client, _device: unknown, code: string): Promise<void> => {
      show(ctx, confirmDevicePage(settings, { secret: readFormSecret(ctx), application: client.clientName ?? client.clientId, code }));
    },
    deviceConnected: async (ctx: KoaContextWithOIDC): Promise<void> => {
      const { client } = ctx.oidc;
      show(ctx, noticePage(settings, device.doneTitle, device.done(client?.clientName ?? client?.clientId ?? '')));
    },
  };
}

const errorTexts: Record<string, (messages: PageSettings['messages']) => string> = {
  NoCodeError: ({ device }) => device.codeMissing,
  NotFoundError: ({ device }) => device.codeUnknown,
  ExpiredError: ({ device }) => device.codeExpired,
  AlreadyUsedError: ({ device }) => device.codeUsed,
};

const codeFromUrl = (ctx: KoaContextWithOIDC): string =>
  formatUserCode(new URLSearchParams(ctx.originalUrl.split('?', 2)[1] ?? '').get('user_code') ?? '');
