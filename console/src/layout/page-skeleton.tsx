import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shown while a page's code and first data are loaded. */
export function PageSkeleton(): ReactNode {
  return (
    <Stack gap="md" aria-busy="true">
      <Skeleton height={28} width={180} />
      <Skeleton height={16} width={320} />
      <Skeleton height={240} mt="md" />
    </Stack>
  );
}
