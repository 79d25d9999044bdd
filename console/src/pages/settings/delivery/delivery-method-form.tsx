import type { DeliveryMethod, DeliveryMethodReplace } from '@mandate/client-sdk';
import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { apiClient, queries } from '../../../api/client.ts';
import { AmountInput, formatAmountForInput, parseAmountToMinorUnits } from '../../../components/forms/amount-input.tsx';
import { ConflictDifference } from '../../../components/forms/conflict-difference.tsx';
import { ErrorNotice, findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { FormActions } from '../../../components/forms/form-actions.tsx';
import { useUpdateWithConflictDetection } from '../../../components/forms/use-update-with-conflict-detection.ts';
import { useFormat } from '../../../languages/use-format.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';
import classes from '../settings.module.css';
import { useCreateDeliveryMethod } from './use-create-delivery-method.ts';

type Values = {
  readonly code: string;
  readonly name: string;
  readonly price: string;
  readonly currency: string;
  readonly address: boolean;
};
type Props = { readonly method: DeliveryMethod | undefined; readonly onClose: () => void };

const fields = ['#/name', '#/price', '#/currency'] as const;

/** Creates a delivery method, or changes `method`. */
export function DeliveryMethodForm({ method, onClose }: Props): ReactNode {
  const t = useSettingsTranslations();
  const format = useFormat();
  const [values, setValues] = useState<Values>(useInitialValues(method));
  const create = useCreateDeliveryMethod(values.code, onClose);
  const update = useUpdateWithConflictDetection<DeliveryMethod, DeliveryMethodReplace>({
    read: () => apiClient.deliveryMethods.get(values.code).withResponse(),
    write: (changes, ifMatch) => apiClient.deliveryMethods.replace(values.code, changes, { ifMatch }),
    changes: ['deliveryMethods'],
    doneMessage: t('delivery.saved'),
    onDone: onClose,
  });
  const body = bodyOf(values);
  const { error, isPending } = method ? update : create;
  const textOf = ({ name, price, currency, requires_address: address }: DeliveryMethodReplace): string =>
    [name, format.money(price, currency), t(address === false ? 'delivery.noAddress' : 'delivery.addressRequired')].join(', ');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!body) return;
        if (method) update.save(method, body);
        else create.mutate(body);
      }}
    >
      <div className={classes['fields']}>
        <Fields values={values} isNew={method === undefined} error={error} onChange={setValues} />
        <ErrorNotice error={error} fields={fields} />
        {update.conflict && (
          <ConflictDifference
            differences={[{ field: t('delivery.method'), theirs: textOf(update.conflict.current), yours: textOf(update.conflict.changes) }]}
            isSaving={isPending}
            onKeepTheirs={onClose}
            onOverwrite={update.overwrite}
          />
        )}
      </div>
      {!update.conflict && (
        <FormActions submit={t(method ? 'save' : 'delivery.add')} isPending={isPending} isDisabled={!body} onCancel={onClose} />
      )}
    </form>
  );
}

/** Returns the values of `method`, or the initial values of a new method. A new method has the currency of an existing method. */
function useInitialValues(method: DeliveryMethod | undefined): Values {
  const { data } = useQuery(queries.deliveryMethods.list({ limit: 1 }));
  if (!method) return { code: '', name: '', price: '', currency: data?.data[0]?.currency ?? 'EUR', address: true };
  const { code, name, price, currency, requires_address: address } = method;
  return { code, name, price: formatAmountForInput(price, currency), currency, address };
}

function bodyOf({ code, name, price, currency, address }: Values): DeliveryMethodReplace | undefined {
  if (name.trim() === '' || !/^[a-z0-9_]{1,32}$/.test(code) || !/^[A-Z]{3}$/.test(currency)) return undefined;
  const amount = parseAmountToMinorUnits(price, currency);
  return amount === undefined ? undefined : { name: name.trim(), price: amount, currency, requires_address: address };
}

type FieldsProps = {
  readonly values: Values;
  readonly isNew: boolean;
  readonly error: unknown;
  readonly onChange: (values: Values) => void;
};

function Fields({ values, isNew, error, onChange }: FieldsProps): ReactNode {
  const t = useSettingsTranslations();
  const isCurrency = /^[A-Z]{3}$/.test(values.currency);
  return (
    <div className={classes['fields']}>
      <TextInput
        data-autofocus
        label={t('delivery.name')}
        required
        maxLength={200}
        value={values.name}
        error={findFieldErrorDetail(error, '#/name')}
        onChange={(event) => onChange({ ...values, name: event.currentTarget.value })}
      />
      {isNew && (
        <TextInput
          label={t('delivery.code')}
          description={t('delivery.codeAbout')}
          required
          maxLength={32}
          pattern="[a-z0-9_]+"
          value={values.code}
          onChange={(event) => onChange({ ...values, code: event.currentTarget.value })}
        />
      )}
      <TextInput
        label={t('delivery.currency')}
        description={t('delivery.currencyAbout')}
        required
        maxLength={3}
        value={values.currency}
        error={findFieldErrorDetail(error, '#/currency')}
        onChange={(event) => onChange({ ...values, currency: event.currentTarget.value.toUpperCase() })}
      />
      {isCurrency && (
        <AmountInput
          label={t('delivery.price')}
          currency={values.currency}
          value={values.price}
          error={findFieldErrorDetail(error, '#/price')}
          onChange={(price) => onChange({ ...values, price })}
        />
      )}
      <Checkbox
        label={t('delivery.requiresAddress')}
        checked={values.address}
        onChange={(event) => onChange({ ...values, address: event.currentTarget.checked })}
      />
    </div>
  );
}
