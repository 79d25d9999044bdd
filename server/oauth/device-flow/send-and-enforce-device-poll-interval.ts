import { LockMode } from '@mikro-orm/core';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { deviceCodeGrantType } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import { readBodyFromBufferOrStream } from '../protocol/buffered-request-body.ts';
import { hashSecretRecordId } from '../storage/oauth-record-mapping.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';

/**
 * Minimum time between two polls by a device, in seconds. Each poll that arrives too early increases the device's interval by the same
 * number of seconds.
 */
const intervalSeconds = 5;

/** Records a poll, and returns whether the poll was too early. */
const recordPoll = (em: EntityManager, deviceCode: string, now: Date): Promise<boolean> =>
  em.transactional(async (inner) => {
    const key = { model: 'DeviceCode', id: hashSecretRecordId(deviceCode) };
    // Locks the device code, so that one of two concurrent polls counts as too early.
    const device = await inner.findOne(OauthRecord, key, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true });
    if (!device) return false;
    const isEarly = device.pollAfter != null && device.pollAfter > now;
    const pollInterval = (device.pollInterval ?? intervalSeconds) + (isEarly ? intervalSeconds : 0);
    await inner.nativeUpdate(OauthRecord, key, { pollInterval, pollAfter: new Date(now.getTime() + pollInterval * 1000) });
    return isEarly;
  });

const pendingError = z.object({ error: z.literal('authorization_pending') });
const deviceAuthorizationBody = z.object({ device_code: z.string() }).passthrough();

/**
 * Sends the poll interval to devices (RFC 8628 section 3.2), and responds with `slow_down` to devices that poll more often (section 3.5).
 */
export const sendAndEnforceDevicePollInterval =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    const isDeviceRequest =
      ctx.method === 'POST' && (ctx.path === oauthEndpointPaths.token || ctx.path === oauthEndpointPaths.device_authorization);
    if (!isDeviceRequest) {
      await next();
      return;
    }
    await next();
    if (ctx.path === oauthEndpointPaths.device_authorization) {
      const parsed = deviceAuthorizationBody.safeParse(ctx.body);
      if (parsed.success) ctx.body = { ...parsed.data, interval: intervalSeconds };
      return;
    }
    if (ctx.status !== 400 || !pendingError.safeParse(ctx.body).success) return;
    const form = new URLSearchParams((await readBodyFromBufferOrStream(ctx)).toString());
    if (form.get('grant_type') !== deviceCodeGrantType) return;
    const isEarly = await recordPoll(em, form.get('device_code') ?? '', new Date());
    if (isEarly) ctx.body = { error: 'slow_down', error_description: 'wait longer before the next request' };
  };
