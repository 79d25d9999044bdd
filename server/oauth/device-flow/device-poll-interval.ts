import type { Middleware } from 'koa';
import { z } from 'zod';
import { deviceGrant } from '../../applications/application.entity.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { endpoints } from '../protocol/endpoints.ts';
import { readBody } from '../protocol/buffered-request-body.ts';
import { recordKey } from '../storage/oauth-record-mapping.ts';

/** Seconds between two questions of a device; each that comes too early adds as many. */
const interval = 5;

// One statement: of two questions at once, one is too early.
const noteQuestion = statement<{ early: boolean }>(
  'note_device_question',
  `with device as (
     select id, coalesce(poll_interval, ${interval}) as wait, coalesce(poll_after > $2, false) as early
     from oauth_records where model = 'DeviceCode' and id = $1 for update
   )
   update oauth_records r
   set poll_interval = device.wait + case when early then ${interval} else 0 end,
       poll_after = $2::timestamptz + make_interval(secs => device.wait + case when early then ${interval} else 0 end)
   from device where r.model = 'DeviceCode' and r.id = device.id
   returning device.early`,
);

const pending = z.object({ error: z.literal('authorization_pending') });
const deviceAnswer = z.object({ device_code: z.string() }).passthrough();

/** RFC 8628: tells devices how often to ask (section 3.2), and those that ask more often to slow down (section 3.5). */
export const devicePolling =
  (em: Em): Middleware =>
  async (ctx, next) => {
    const asksOrBegins = ctx.method === 'POST' && (ctx.path === endpoints.token || ctx.path === endpoints.device_authorization);
    if (!asksOrBegins) {
      await next();
      return;
    }
    await next();
    if (ctx.path === endpoints.device_authorization) {
      const answer = deviceAnswer.safeParse(ctx.body);
      if (answer.success) ctx.body = { ...answer.data, interval };
      return;
    }
    if (ctx.status !== 400 || !pending.safeParse(ctx.body).success) return;
    const form = new URLSearchParams((await readBody(ctx)).toString());
    if (form.get('grant_type') !== deviceGrant) return;
    const [question] = await noteQuestion(em, [recordKey(form.get('device_code') ?? ''), new Date()]);
    if (question?.early) ctx.body = { error: 'slow_down', error_description: 'wait longer before asking again' };
  };
