import { Modal } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, type ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';
import classes from './dialog.module.css';

type Props = { readonly title: string; readonly isOpen: boolean; readonly onClose: () => void; readonly children: ReactNode };

/** A modal dialog. Closing it unmounts its content, so a form starts with the current values when the dialog opens again. */
export function Dialog({ title, isOpen, onClose, children }: Props): ReactNode {
  const t = useCommonTranslations();
  // Earlier notices would cover the dialog.
  useEffect(() => {
    if (isOpen) notifications.clean();
  }, [isOpen]);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      centered
      classNames={{ content: classes['content'] ?? '' }}
      closeButtonProps={{ 'aria-label': t('form.close') }}
      // Closing the dialog can change the URL and thus the dialog's content, so the dialog must disappear without an animation.
      transitionProps={{ exitDuration: 0 }}
    >
      {children}
    </Modal>
  );
}
