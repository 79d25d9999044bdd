import { z } from 'zod';
import { maxLimitedCategories, type ConnectedAppLimits, type EffectiveOrderLimits, type OrderSpendingLimits } from '@mandate/contract';
import { getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { findNameOfConnectedApp } from '../../../grants/store-list-and-revoke-connected-apps.ts';
import {
  changeOrRemoveLimitsOfConnectedApp,
  findCeilingOfConnectedApp,
  findLimitsOfConnectedApp,
  isAccessToAllOrdersGrantable,
} from '../../../grants/find-and-change-limits-of-connected-app.ts';
import { unlimitedOrderPermissions } from '../../../grants/order-limits-of-authorization-request.ts';
import { orderLimitsFormFromLimits, orderLimitsFormSchema, type OrderLimitsForm } from '../../views/order-limits-form-and-amount-format.ts';
import { sendPage } from '../../routing/page-context.ts';
import { connectedAppLimitsPage } from '../../views/order-limits-fields-and-page.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { parseOrderLimitsForm } from '../parse-order-limits-form.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';

const connectedAppId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

type App = {
  readonly id: number;
  readonly name: string;
  readonly limits: ConnectedAppLimits;
  readonly canAllowAllOrders: boolean;
  readonly ceiling: OrderSpendingLimits | undefined;
  readonly ceilingCategories: readonly string[] | undefined;
};

async function findApp({ context: { em }, req, account }: AccountRequest): Promise<App | undefined> {
  const id = connectedAppId.safeParse(req.params['app']);
  if (!id.success) return undefined;
  const limits = await findLimitsOfConnectedApp(em, account.id, id.data);
  const name = await findNameOfConnectedApp(em, account.id, id.data);
  const canAllowAllOrders = await isAccessToAllOrdersGrantable(em, account.id, id.data);
  const { limits: ceiling, products } = (await findCeilingOfConnectedApp(em, account.id, id.data)) ?? {};
  if (!limits || name === undefined) return undefined;
  return { id: id.data, name, limits, canAllowAllOrders, ceiling, ceilingCategories: products?.categories };
}

/** Handles `GET /account/apps/:app/limits`. */
export async function showConnectedAppLimitsForm(request: AccountRequest): Promise<void> {
  const app = await findApp(request);
  if (!app) return request.res.redirect(303, '/account/apps');
  return renderLimits(request, app, orderLimitsFormFromLimits(request.context.settings.messages, currentLimits(app)), []);
}

const decisionSchema = z.object({ decision: z.enum(['save', 'remove']).catch('save') });

/** Handles `POST /account/apps/:app/limits`. */
export async function submitConnectedAppLimits(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const app = await findApp(request);
  if (!app) return res.redirect(303, '/account/apps');
  const form = orderLimitsFormSchema.parse(req.body ?? {});
  const isRemoval = decisionSchema.parse(req.body ?? {}).decision === 'remove';
  const current = currentLimits(app);
  const { faults, limits, timeZone } = parseOrderLimitsForm(form, {
    maximum: undefined,
    ceiling: app.ceiling,
    ceilingCategories: app.ceilingCategories,
    current,
    canAllowAllOrders: app.canAllowAllOrders,
    currencies: await listCurrencies(request, app),
    messages: context.settings.messages,
    now,
  });
  if (faults.length > 0 && !isRemoval) return renderLimits(request, app, form, faults);
  const change = {
    source: getClientAddressAndUserAgent(req),
    by: undefined,
    // If the form contains no limits, the user has selected access to all orders, so a previous restriction to the application's own orders
    // is removed.
    input: isRemoval ? undefined : (limits ?? (current?.orders === 'own' ? unlimitedOrderPermissions : undefined)),
    timeZone: form.time_zone ? timeZone : undefined,
  };
  await context.em.transactional((em) => changeOrRemoveLimitsOfConnectedApp(em, account.id, app.id, change, now));
  return res.redirect(303, '/account/apps');
}

async function renderLimits(request: AccountRequest, app: App, form: OrderLimitsForm, faults: readonly FieldError[]): Promise<void> {
  const { context, req, res } = request;
  const { name: applicationName, canAllowAllOrders, ceiling } = app;
  const currencies = await listCurrencies(request, app);
  const content = {
    applicationName,
    isOffered: true,
    maximum: undefined,
    // If access to all orders is unavailable, the application has requested access only to its own orders.
    isRequested: !canAllowAllOrders,
    isProposed: true,
    ceiling,
    canAllowAllOrders,
    categories: await listCategories(request, app, form),
    currencies,
    form,
    faults,
  };
  const html = connectedAppLimitsPage(context.settings, context.forms.issue(req, res), content, currentLimits(app) !== undefined);
  return sendPage(context, res, html, { status: faults.length > 0 ? 422 : 200 });
}

const currentLimits = ({ limits }: App): EffectiveOrderLimits | undefined => limits.authorization_details[0];

/**
 * Returns the categories that the ceilings permit. If the ceilings do not restrict categories, returns the selected categories and the
 * shop's categories.
 */
async function listCategories(
  { context: { em, listProductCategories } }: AccountRequest,
  { ceilingCategories }: App,
  { limit_category: selected = [] }: OrderLimitsForm,
): Promise<readonly string[]> {
  return ceilingCategories ?? [...new Set([...selected, ...(await listProductCategories(em, maxLimitedCategories))])];
}

/** Returns the shop's currencies and the currency of the current limits. */
async function listCurrencies({ context: { em, listOrderCurrencies } }: AccountRequest, app: App): Promise<string[]> {
  return [...new Set([currentLimits(app)?.limits?.currency ?? [], await listOrderCurrencies(em)].flat())];
}
