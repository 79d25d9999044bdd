import type { User, UserUpdate } from '@mandate/client-sdk';
import { useState, type ReactNode } from 'react';
import { apiClient } from '../../../api/client.ts';
import { ConflictDifference, type FieldDifference } from '../../../components/forms/conflict-difference.tsx';
import { useUpdateWithConflictDetection } from '../../../components/forms/use-update-with-conflict-detection.ts';
import { useCommonTranslations } from '../../../languages/use-translations.tsx';
import { CustomerForm, type CustomerFormValues } from '../customer-form.tsx';
import { useCustomersTranslations } from '../use-customers-translations.ts';

/** Form that changes the name, e-mail address and language of a customer. */
export function EditCustomer({ user, onClose }: { readonly user: User; readonly onClose: () => void }): ReactNode {
  const t = useCustomersTranslations();
  const common = useCommonTranslations();
  const [seen] = useState(user);
  const update = useUpdateWithConflictDetection<User, UserUpdate>({
    read: () => apiClient.users.get(user.id).withResponse(),
    write: (changes, ifMatch) => apiClient.users.update(user.id, changes, { ifMatch }),
    changes: ['users', 'auditEvents'],
    doneMessage: t('edit.done'),
    onDone: onClose,
  });
  if (update.conflict) {
    const { current, changes, fields } = update.conflict;
    const [theirs, yours] = [new Map<string, unknown>(Object.entries(current)), new Map<string, unknown>(Object.entries(changes))];
    const differences = fields.map((field): FieldDifference => ({
      field: t.value('field', field),
      theirs: text(theirs.get(field)),
      yours: text(yours.get(field)),
    }));
    return (
      <ConflictDifference differences={differences} isSaving={update.isPending} onKeepTheirs={onClose} onOverwrite={update.overwrite} />
    );
  }
  const submit = (fields: CustomerFormValues): void => {
    const changes: UserUpdate = {
      ...(fields.name !== seen.name && { name: fields.name }),
      ...(fields.email !== seen.email && { email: fields.email }),
      ...(fields.locale !== seen.locale && { locale: fields.locale }),
    };
    if (Object.keys(changes).length === 0) onClose();
    else update.save(seen, changes);
  };
  return (
    <CustomerForm
      initial={seen}
      submit={common('form.save')}
      error={update.error}
      isPending={update.isPending}
      onSubmit={submit}
      onCancel={onClose}
    />
  );
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
