import { notifications } from '@mantine/notifications';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { describeError } from './error-notice.tsx';

/** IDs of the latest notices by form. */
const latestIds = new Map<string, string>();

/** Time after which errors disappear, in milliseconds. */
const errorDurationMs = 8_000;

/**
 * Returns functions that show notices for a few seconds. `form` identifies the form or button that the notices are about. Each new notice
 * replaces the previous notice about the same form.
 */
export function useFormNotices(form: string) {
  const t = useCommonTranslations();
  const removePrevious = (): void => {
    const id = latestIds.get(form);
    if (id !== undefined) notifications.hide(id);
    latestIds.delete(form);
  };
  const show = (notice: Parameters<typeof notifications.show>[0]): void => {
    removePrevious();
    latestIds.set(form, notifications.show({ ...notice, closeButtonProps: { 'aria-label': t('form.close') } }));
  };
  return {
    removePrevious,
    showDone: (message: string) => show({ message }),
    showError: (error: unknown) =>
      show({ color: 'red', title: t('error.title'), message: describeError(error, t), autoClose: errorDurationMs }),
  };
}
