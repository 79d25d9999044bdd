import { Button, CopyButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTranslations } from '../../languages/use-translations.tsx';

type Props = {
  readonly text: string;
  /** Accessible name, if the page has several of these buttons. */
  readonly label?: string;
  readonly size?: 'xs' | 'sm';
};

/** Button that copies text to the clipboard. */
export function CopyTextButton({ text, label, size = 'sm' }: Props): ReactNode {
  const t = useCommonTranslations();
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size={size} variant="default" aria-label={label} onClick={copy}>
          {t(copied ? 'secret.copied' : 'secret.copy')}
        </Button>
      )}
    </CopyButton>
  );
}
