import { setTimeout as delay } from 'node:timers/promises';
import type { Request } from 'express';
import type { Context } from 'koa';
import { z } from 'zod';
import { getClientAddressAndUserAgent } from '../../audit/record-audit-event.ts';
import { releaseLoadShedderSlotWhile } from '../../http/server/load-shedder.ts';
import {
  endAccessIfProviderRejectsAccount,
  type AccountCheckDependencies,
} from '../ended-provider-accounts/end-access-if-provider-rejects-account.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';

/** How long a refresh waits for the provider, in milliseconds. */
const waitMs = 2_000;

const expressRequest = z.custom<Request>();

/** Rejects an otherwise successful refresh if the user signed in through a provider and the provider account no longer exists. */
export type CheckProviderAccountAfterRefresh = (ctx: Context) => Promise<void>;

/**
 * Creates a function that checks whether the user's account at the identity provider still exists. The function runs after the refresh has
 * been committed, so that no transaction is open while waiting for the provider. If the account no longer exists, the new tokens are
 * revoked before they are sent. If the provider responds too late, the refresh succeeds, and access is revoked when the response arrives.
 */
export const createProviderAccountCheckAfterRefresh =
  (dependencies: AccountCheckDependencies): CheckProviderAccountAfterRefresh =>
  async (ctx) => {
    const dueLinkedAccountId = getOauthRequestContext(ctx.req).prefetched?.due_linked_account_id;
    if (ctx.status !== 200 || dueLinkedAccountId == null) return;
    const source = getClientAddressAndUserAgent(expressRequest.parse(ctx.req));
    const check = endAccessIfProviderRejectsAccount(dependencies, dueLinkedAccountId, source).catch((err: unknown) => {
      dependencies.log.error({ err }, 'an account at an identity provider could not be checked');
      return false;
    });
    const isRefused = await releaseLoadShedderSlotWhile(ctx.res, Promise.race([check, delay(waitMs, false, { ref: false })]));
    if (!isRefused) return;
    ctx.status = 400;
    ctx.body = { error: 'invalid_grant', error_description: "the user's identity provider no longer accepts the account" };
  };
