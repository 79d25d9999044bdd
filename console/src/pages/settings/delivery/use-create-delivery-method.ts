import { mutations } from '../../../api/client.ts';
import { useApiMutation } from '../../../components/forms/use-api-mutation.ts';
import { useSettingsTranslations } from '../use-settings-translations.ts';

/** Creates a delivery method. Fails if a delivery method already has this code. */
export function useCreateDeliveryMethod(code: string, onDone: () => void) {
  const t = useSettingsTranslations();
  return useApiMutation(mutations.deliveryMethods.replace(code, { ifNoneMatch: '*' }), {
    changes: ['deliveryMethods'],
    doneMessage: t('delivery.added'),
    onDone,
  });
}
