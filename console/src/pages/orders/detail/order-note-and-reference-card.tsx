import { ApiError, type Order, type OrderUpdate } from '@mandate/client-sdk';
import { Button, TextInput, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { mutations } from '../../../api/client.ts';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Card } from '../../../components/page-sections/card.tsx';
import { ConflictDifference, type FieldDifference } from '../../../components/forms/conflict-difference.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useOrdersTranslations } from '../use-orders-translations.ts';
import { createOrderWithEtagQuery, type OrderWithEtag } from './order-queries-and-possible-actions.ts';
import classes from './order-detail.module.css';

export function OrderNoteAndReferenceCard({ order, etag }: OrderWithEtag): ReactNode {
  const t = useOrdersTranslations();
  const [isOpen, { open, close }] = useDisclosure(false);
  const edit = (
    <IfPermitted operation="orders.update">
      <Button size="xs" variant="default" onClick={open}>
        {t('note.edit')}
      </Button>
    </IfPermitted>
  );
  return (
    <Card title={t('note.note')} actions={edit}>
      {order.reference !== null && <p className={classes['detail']}>{t('note.referenceValue', { reference: order.reference })}</p>}
      {order.note === null ? <p className={classes['detail']}>{t('note.none')}</p> : <p className={classes['note']}>{order.note}</p>}
      <Dialog title={t('note.title')} isOpen={isOpen} onClose={close}>
        <NoteForm order={order} etag={etag} onClose={close} />
      </Dialog>
    </Card>
  );
}

const fields = ['note', 'reference'] as const;
type Values = Readonly<Record<(typeof fields)[number], string>>;
const valuesOf = ({ note, reference }: Order): Values => ({ note: note ?? '', reference: reference ?? '' });

/**
 * Form for an order's note and reference. The form sends the ETag of the version with which it was opened, even if the page has received a
 * newer version since then. The form therefore never silently overwrites other users' changes.
 */
function NoteForm({ order, etag, onClose }: OrderWithEtag & { readonly onClose: () => void }): ReactNode {
  const t = useOrdersTranslations();
  const queryClient = useQueryClient();
  const [base, setBase] = useState<OrderWithEtag>({ order, etag });
  const [values, setValues] = useState<Values>(valuesOf(order));
  /** Whether the order has changed since the form was opened; if so, `base` is the changed order. */
  const [isConflict, setIsConflict] = useState(false);
  /** Error that occurred while the changed order was read. */
  const [readError, setReadError] = useState<unknown>();
  const update = useApiMutation(mutations.orders.update(order.id, { ifMatch: base.etag }), {
    changes: ['orders'],
    doneMessage: t('note.saved'),
    onDone: onClose,
  });
  const readChangedOrder = async (): Promise<void> => {
    const current = await queryClient.fetchQuery({ ...createOrderWithEtagQuery(order.id), staleTime: 0 });
    // If the response to an earlier attempt was lost, the order already has the values that the user entered.
    if (listChangedFields(valuesOf(current.order), values).length === 0) return onClose();
    setBase(current);
    setIsConflict(true);
  };
  const save = async (): Promise<void> => {
    setReadError(undefined);
    await update.mutateAsync(createPatch(valuesOf(base.order), values)).catch(async (error: unknown) => {
      if (isPreconditionFailed(error)) await readChangedOrder().catch(setReadError);
    });
  };
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <NoteFields values={values} error={update.error} onChange={setValues} />
      {isConflict ? (
        <ConflictDifference
          differences={listDifferences(valuesOf(base.order), values, t)}
          isSaving={update.isPending}
          onKeepTheirs={onClose}
          onOverwrite={() => void save()}
        />
      ) : (
        <>
          <ErrorNotice error={isPreconditionFailed(update.error) ? readError : update.error} fields={['#/note', '#/reference']} />
          <FormActions submit={t('note.save')} isPending={update.isPending} onCancel={onClose} />
        </>
      )}
    </form>
  );
}

type FieldsProps = { readonly values: Values; readonly error: unknown; readonly onChange: (values: Values) => void };

function NoteFields({ values, error, onChange }: FieldsProps): ReactNode {
  const t = useOrdersTranslations();
  return (
    <>
      <Textarea
        label={t('note.note')}
        autosize={false}
        rows={5}
        maxLength={1000}
        value={values.note}
        error={findFieldErrorDetail(error, '#/note')}
        onChange={(event) => onChange({ ...values, note: event.currentTarget.value })}
      />
      <TextInput
        label={t('note.reference')}
        maxLength={64}
        value={values.reference}
        error={findFieldErrorDetail(error, '#/reference')}
        onChange={(event) => onChange({ ...values, reference: event.currentTarget.value })}
      />
    </>
  );
}

const isPreconditionFailed = (error: unknown): boolean => error instanceof ApiError && error.code === 'precondition_failed';

const listChangedFields = (before: Values, after: Values) => fields.filter((name) => before[name] !== after[name]);

/** Returns the values of the changed fields; an empty string removes the value. */
const createPatch = (before: Values, after: Values): OrderUpdate =>
  Object.fromEntries(listChangedFields(before, after).map((name) => [name, after[name].trim() === '' ? null : after[name]]));

const listDifferences = (theirs: Values, yours: Values, t: ReturnType<typeof useOrdersTranslations>): FieldDifference[] =>
  listChangedFields(theirs, yours).map((name) => ({ field: t(`note.${name}`), theirs: theirs[name] || null, yours: yours[name] || null }));
