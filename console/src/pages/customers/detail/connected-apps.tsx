import type { ConnectedAppOfUser } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../../api/client.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { PermissionList } from '../../../components/page-sections/permission-list.tsx';
import { ErrorNotice } from '../../../components/feedback/error-notice.tsx';
import { OperatedByShopBadge } from '../../../components/feedback/operated-by-shop-badge.tsx';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { useCustomersTranslations, type CustomersTranslate } from '../use-customers-translations.ts';
import classes from './customer-detail.module.css';

/** Maximum page size of the API, which is sufficient because customers connect only a few applications. */
const limit = 100;

/** The applications that can act for a customer, with their limits and the amounts spent. */
export function ConnectedApps({ userId }: { readonly userId: number }): ReactNode {
  const t = useCustomersTranslations();
  const { data, error, refetch } = useQuery(queries.connectedApps.listOfUser(userId, { limit }));
  return (
    <Card title={t('apps')}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {data?.data.length === 0 && <p>{t('apps.empty')}</p>}
      <ul className={classes['entries']} aria-label={t('apps')}>
        {data?.data.map((app) => (
          <Entry key={app.id} app={app} />
        ))}
      </ul>
      {data?.has_more === true && <p className={classes['details']}>{t('listedNewest', { count: limit })}</p>}
    </Card>
  );
}

function Entry({ app }: { readonly app: ConnectedAppOfUser }): ReactNode {
  const t = useCustomersTranslations();
  const format = useFormat();
  const { application, device, created_at: createdAt, last_used_at: lastUsedAt } = app;
  // OpenID Connect scopes such as `openid` permit no access to the shop.
  const scopes = app.scopes.filter((scope) => scope.includes('.'));
  const times = [t('apps.since', { date: format.date(createdAt) }), t('lastUsed', { time: format.relative(lastUsedAt) })];
  return (
    <li>
      <span className={classes['name']}>
        {application.name} <OperatedByShopBadge application={application} />
      </span>
      <span className={classes['details']}>{[...(device === null ? [] : [device]), ...times].join(' · ')}</span>
      {scopes.length > 0 && <PermissionList scopes={scopes} />}
      {listLimits(app, t, format).map((text) => (
        <span key={text}>{text}</span>
      ))}
    </li>
  );
}

/** Describes an application's order limits, and the amounts that it has spent in the current periods. */
function listLimits(
  { scopes, limits: { authorization_details: details, budgets } }: ConnectedAppOfUser,
  t: CustomersTranslate,
  format: Format,
): string[] {
  if (!scopes.includes('orders.write')) return [];
  const [effective] = details;
  if (!effective) return [t('apps.noLimits')];
  const { limits, products, valid_until: validUntil, orders, approval } = effective;
  return [
    ...(limits?.per_order === undefined ? [] : [t('apps.perOrder', { amount: format.money(limits.per_order, limits.currency) })]),
    ...budgets.map(({ period, spent, limit: total, currency, set_by: author }) =>
      t('apps.spent', {
        spent: format.money(spent, currency),
        limit: format.money(total, currency),
        period: t.value('period', period),
        author: t.value('limitAuthor', author),
      }),
    ),
    ...(products ? [t('apps.categories', { categories: products.categories.join(', ') })] : []),
    ...(validUntil === undefined ? [] : [t('apps.validUntil', { date: format.dateTime(validUntil) })]),
    ...(orders === 'own' ? [t('apps.ownOrders')] : []),
    ...(approval === 'always' ? [t('apps.approvalAlways')] : []),
  ];
}
