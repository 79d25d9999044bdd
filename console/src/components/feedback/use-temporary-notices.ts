import { notifications } from '@mantine/notifications';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import { describeError } from './error-notice.tsx';

/** Time after which errors disappear, in milliseconds. */
const errorDurationMs = 8_000;

/** Removes all notices, because an earlier "saved" would contradict an error or a conflict that the next action shows in its form. */
const removePrevious = (): void => notifications.clean();

/** Returns functions that show notices for a few seconds. Each new notice replaces the previous one; several would cover the page. */
export function useTemporaryNotices() {
  const t = useCommonTranslations();
  const show = (notice: Parameters<typeof notifications.show>[0]): void => {
    removePrevious();
    notifications.show({ ...notice, closeButtonProps: { 'aria-label': t('form.close') } });
  };
  return {
    removePrevious,
    showDone: (message: string) => show({ message }),
    showError: (error: unknown) =>
      show({ color: 'red', title: t('error.title'), message: describeError(error, t), autoClose: errorDurationMs }),
  };
}
