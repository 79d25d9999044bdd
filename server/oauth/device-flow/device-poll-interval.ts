import type { Middleware } from 'koa';
import { z } from 'zod';
import { deviceGrantType } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { endpointPaths } from '../protocol/endpoints.ts';
import { readBufferedBody } from '../protocol/buffered-request-body.ts';
import { hashRecordId } from '../storage/oauth-record-mapping.ts';

/**
 * Minimum time between two polls by a device, in seconds. Each poll that arrives too early increases the device's interval by the same
 * amount.
 */
const intervalSeconds = 5;

// This is a single statement, so that one of two concurrent polls counts as too early.
const recordPoll = prepareStatement<{ early: boolean }>(
  'record_device_poll',
  `with device as (
     select id, coalesce(poll_interval, ${intervalSeconds}) as wait, coalesce(poll_after > $2, false) as early
     from oauth_records where model = 'DeviceCode' and id = $1 for update
   )
   update oauth_records r
   set poll_interval = device.wait + case when early then ${intervalSeconds} else 0 end,
       poll_after = $2::timestamptz + make_interval(secs => device.wait + case when early then ${intervalSeconds} else 0 end)
   from device where r.model = 'DeviceCode' and r.id = device.id
   returning device.early`,
);

const pendingError = z.object({ error: z.literal('authorization_pending') });
const deviceAuthorizationBody = z.object({ device_code: z.string() }).passthrough();

/** Returns the poll interval to devices (RFC 8628 section 3.2), and returns `slow_down` to devices that poll more often (section 3.5). */
export const enforceDevicePollInterval =
  (em: EntityManager): Middleware =>
  async (ctx, next) => {
    const isDeviceRequest = ctx.method === 'POST' && (ctx.path === endpointPaths.token || ctx.path === endpointPaths.device_authorization);
    if (!isDeviceRequest) {
      await next();
      return;
    }
    await next();
    if (ctx.path === endpointPaths.device_authorization) {
      const parsed = deviceAuthorizationBody.safeParse(ctx.body);
      if (parsed.success) ctx.body = { ...parsed.data, interval: intervalSeconds };
      return;
    }
    if (ctx.status !== 400 || !pendingError.safeParse(ctx.body).success) return;
    const form = new URLSearchParams((await readBufferedBody(ctx)).toString());
    if (form.get('grant_type') !== deviceGrantType) return;
    const [poll] = await recordPoll(em, [hashRecordId(form.get('device_code') ?? ''), new Date()]);
    if (poll?.early) ctx.body = { error: 'slow_down', error_description: 'wait longer before the next request' };
  };
