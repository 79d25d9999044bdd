import { mutations } from '../../../api/client.ts';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useSettingsMessages } from '../use-settings-messages.ts';

/** Creates a delivery method. Fails if a delivery method already has this code. */
export function useCreateDeliveryMethod(code: string, onDone: () => void) {
  const t = useSettingsMessages();
  return useApiMutation(mutations.deliveryMethods.replace(code, { ifNoneMatch: '*' }), {
    changes: ['deliveryMethods'],
    doneMessage: t('delivery.added'),
    onDone,
  });
}
