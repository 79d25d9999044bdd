import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { IfPermitted } from '../../../api/permissions.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { useApplicationsTranslations } from '../use-applications-translations.ts';

type Props = { readonly title: string; readonly form: (close: () => void) => ReactNode };

/** Button that opens the form for changing a section. */
export function EditApplicationButtonAndDialog({ title, form }: Props): ReactNode {
  const t = useApplicationsTranslations();
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <IfPermitted operation="applications.update">
      <Button size="xs" variant="default" aria-label={t('edit.section', { section: title })} onClick={dialog.open}>
        {t('edit')}
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={dialog.close}>
        {form(dialog.close)}
      </Dialog>
    </IfPermitted>
  );
}
