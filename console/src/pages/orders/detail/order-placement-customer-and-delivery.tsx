import type { Order, OrderSummary } from '@mandate/client-sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { queries } from '../../../api/client.ts';
import { usePermissions } from '../../../api/permissions.tsx';
import { loadingNamePlaceholder } from '../../../api/use-user-names.ts';
import { Card } from '../../../components/page-sections/card.tsx';
import { useFormat } from '../../../languages/use-format.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import classes from './order-detail.module.css';

type Props = { readonly order: Order; readonly summary: OrderSummary | undefined };

/** Line below the title with the order's date, application and customer, and the shop's limit for the application. */
export function OrderPlacementAndLimitText({ order, summary }: Props): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const limit = useLimitOfApplication(order.client_id);
  const date = format.dateTime(order.created_at);
  const customer = <strong>{summary?.customer?.name ?? order.delivery.recipient_name}</strong>;
  if (order.client_id === null) return t.rich('placed.byCustomer', { date, customer });
  const application = <strong>{summary?.client?.name ?? order.client_id}</strong>;
  return (
    <>
      {t.rich('placed.throughApplication', { date, application, customer })} {limit}
    </>
  );
}

/** Returns a sentence about the limit that the shop set for the application, if the user is permitted to see it. */
function useLimitOfApplication(clientId: string | null): string | undefined {
  const t = useOrdersTranslations();
  const format = useFormat();
  const isPermitted = usePermissions().can('applications.list');
  const { data } = useQuery({ ...queries.applications.list({ limit: 100 }), enabled: isPermitted && clientId !== null, staleTime: 60_000 });
  const ceiling = data?.data.find(({ client_id }) => client_id === clientId)?.order_limits_ceiling;
  if (!ceiling) return undefined;
  const { currency, per_order: perOrder, per_period: perPeriod, period = 'month' } = ceiling;
  if (perOrder !== undefined) return t('placed.limitPerOrder', { amount: format.money(perOrder, currency) });
  return perPeriod === undefined ? undefined : t('placed.limitPerPeriod', { amount: format.money(perPeriod, currency), period });
}

export function OrderCustomerAndDeliveryCard({ order, summary }: Props): ReactNode {
  const t = useOrdersTranslations();
  const format = useFormat();
  const { can } = usePermissions();
  const { data: user } = useQuery({ ...queries.users.get(order.user_id), enabled: can('users.list') });
  const { delivery } = order;
  const deliveryMethod = useDeliveryMethodName(delivery.method);
  return (
    <Card title={t('customer.title')}>
      <dl className={classes['address']}>
        <div>
          <dt>{t('customer.name')}</dt>
          <dd>{summary?.customer?.name ?? user?.name ?? `#${order.user_id}`}</dd>
          {user && (
            <dd>
              <a href={`mailto:${user.email}`}>{user.email}</a>
            </dd>
          )}
          <dd>
            <Link to={`/orders?user_id=${order.user_id}`}>{t('customer.orders')}</Link>
          </dd>
        </div>
        <div>
          <dt>{t('customer.address')}</dt>
          {format.addressLines(delivery).map((line) => (
            <dd key={line}>{line}</dd>
          ))}
        </div>
        <div>
          <dt>{t('customer.method')}</dt>
          <dd>{deliveryMethod}</dd>
        </div>
      </dl>
    </Card>
  );
}

/** Returns the name of a delivery method, or its code if it has been deleted. */
function useDeliveryMethodName(code: string): string {
  const t = useOrdersTranslations();
  const { data, isPending } = useQuery({ ...queries.deliveryMethods.list({ limit: 100 }), staleTime: 300_000 });
  return data?.data.find((method) => method.code === code)?.name ?? (isPending ? loadingNamePlaceholder : t.value('deliveryMethod', code));
}
