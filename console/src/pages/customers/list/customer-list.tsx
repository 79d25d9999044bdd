import type { User, UsersListQuery } from '@mandate/client-sdk';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo, type ReactNode } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { mutations, queries } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { EmailAddress } from '../../../components/email-address.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { EmptyState } from '../../../components/feedback/empty-state.tsx';
import { ListToolbar } from '../../../components/lists/list-toolbar.tsx';
import { PageHeader } from '../../../components/page-sections/page-header.tsx';
import { ResourceList, type Column } from '../../../components/lists/resource-list.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useFormat, type Format } from '../../../languages/use-format.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { CustomerForm } from '../customer-form.tsx';
import { CustomerStatusBadge } from '../customer-status-badge.tsx';
import { useCustomersTranslations, type CustomersTranslate } from '../use-customers-translations.ts';

const statuses = ['active', 'suspended', 'closed'] as const;
const isStatus = (name: string): name is (typeof statuses)[number] => statuses.some((status) => status === name);

export function CustomerList(): ReactNode {
  const t = useCustomersTranslations();
  const common = useCommonTranslations();
  const format = useFormat();
  const filters = useFilters();
  const columns = useMemo(() => createColumns(t, format), [t, format]);
  return (
    <>
      <PageHeader title={common('page.customers')} actions={<AddCustomer />} />
      <ListToolbar
        list="customers"
        tabs={['all', ...statuses].map((value) => ({ value, name: t.value('tab', value) }))}
        searchLabel={t('list.search')}
      />
      <ResourceList
        label={common('page.customers')}
        columns={columns}
        query={(page) => queries.users.list({ ...filters, ...page })}
        rowKey={({ id }) => id}
        rowPath={({ id }) => `/customers/${id}`}
        empty={<EmptyState title={t('list.empty')} text={t('list.emptyAbout')} />}
      />
    </>
  );
}

/** Returns the filters in the URL. The API finds customers only by their complete e-mail address. */
function useFilters(): UsersListQuery {
  const [parameters] = useSearchParams();
  const [tab, email] = [parameters.get('tab') ?? '', parameters.get('q') ?? ''];
  return { role: ['customer'], ...(isStatus(tab) && { status: [tab] }), ...(email !== '' && { email }) };
}

function AddCustomer(): ReactNode {
  const t = useCustomersTranslations();
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <IfPermitted operation="users.create">
      <Button onClick={dialog.open}>{t('create.action')}</Button>
      <Dialog title={t('create.title')} isOpen={isOpen} onClose={dialog.close}>
        <CreateForm onClose={dialog.close} />
      </Dialog>
    </IfPermitted>
  );
}

function CreateForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const t = useCustomersTranslations();
  const navigate = useNavigate();
  const create = useApiMutation(mutations.users.create(), {
    changes: ['users'],
    doneMessage: t('create.done'),
    onDone: ({ id }) => void navigate(`/customers/${id}`),
  });
  return (
    <CustomerForm
      initial={{ name: '', email: '', locale: null }}
      about={t('create.about')}
      submit={t('create.action')}
      error={create.error}
      isPending={create.isPending}
      onSubmit={(fields) => create.mutate(fields)}
      onCancel={onClose}
    />
  );
}

const createColumns = (t: CustomersTranslate, format: Format): Column<User>[] => [
  {
    id: 'name',
    header: t('field.name'),
    cell: ({ name, status }) => (status === 'closed' ? t('closedAccount') : name),
    narrowDetail: ({ email, status }) => status !== 'closed' && <EmailAddress email={email} />,
  },
  { id: 'email', header: t('field.email'), cell: ({ email, status }) => (status === 'closed' ? '–' : email), isSecondary: true },
  { id: 'status', header: t('field.status'), cell: (user) => <CustomerStatusBadge {...user} /> },
  { id: 'created', header: t('field.created_at'), cell: ({ created_at }) => format.relative(created_at), align: 'end', isSecondary: true },
];
