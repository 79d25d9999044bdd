import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { useCommonMessages } from '../../languages/use-messages.tsx';

type Props = {
  /** URL parameter that contains the filter. */
  readonly parameter: string;
  readonly text: string;
};

/** A filter that a link on another page has set, with a button that removes it. */
export function ActiveFilter({ parameter, text }: Props): ReactNode {
  const t = useCommonMessages();
  const [, setParameters] = useSearchParams();
  const remove = (): void =>
    setParameters((before) => {
      const next = new URLSearchParams(before);
      next.delete('cursor');
      next.delete(parameter);
      return next;
    });
  return (
    <Button
      variant="light"
      rightSection={<span aria-hidden="true">×</span>}
      aria-label={t('list.removeFilter', { name: text })}
      onClick={remove}
    >
      {text}
    </Button>
  );
}
