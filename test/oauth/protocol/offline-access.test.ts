import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  authorizationPath,
  buildAuthorizationRequest,
  cliClient,
  redeemCode,
  signUp,
  tokenResponseSchema,
  type AuthorizationParameters,
} from '../../support/oauth/oauth-flow.ts';
import type { HtmlPage, HttpBrowser } from '../../support/browser/browser.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

type StartAuthorization = (browser: HttpBrowser, query: AuthorizationParameters) => Promise<HtmlPage>;

const requestMethods: Record<string, StartAuthorization> = {
  'a GET request': (browser, query) => browser.open(authorizationPath(query)),
  'a POST request': (browser, query) => browser.open('/oauth/authorize', { method: 'POST', body: new URLSearchParams(query) }),
  'a pushed request': async (browser, query) => {
    const pushed = await fetch(`${server.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(query) });
    const { request_uri: requestUri } = z.object({ request_uri: z.string() }).parse(await pushed.json());
    return browser.open(authorizationPath({ client_id: cliClient.clientId, request_uri: requestUri }));
  },
};

describe.each(Object.entries(requestMethods))('in %s', (_label, start) => {
  test.each(['openid orders.read offline_access', 'openid orders.read', 'offline_access'])(
    'exactly the scopes "%s" are granted',
    async (scope) => {
      const { browser } = await signUp(server.origin);
      const { query, verifier } = buildAuthorizationRequest({ scope });
      const page = await browser.submit(await start(browser, query), { decision: 'allow' });
      const code = page.externalRedirect?.searchParams.get('code') ?? '';
      const response = await redeemCode(server.origin, {
        code,
        verifier,
        redirectUri: cliClient.redirectUri,
        clientId: cliClient.clientId,
      });
      const granted = tokenResponseSchema.parse(await response.json()).scope?.split(' ');
      expect(granted?.toSorted()).toEqual(scope.split(' ').toSorted());
    },
  );
});
