import { mutations } from '../../../api/client.ts';
import { useAction } from '../../../components/forms/use-action.ts';
import { useSettingsMessages } from '../use-settings-messages.ts';

/** Creates a delivery method; fails if there is one with this code. */
export function useCreateDeliveryMethod(code: string, onDone: () => void) {
  const t = useSettingsMessages();
  return useAction(mutations.deliveryMethods.replace(code, { ifNoneMatch: '*' }), {
    changes: ['deliveryMethods'],
    doneMessage: t('delivery.added'),
    onDone,
  });
}
