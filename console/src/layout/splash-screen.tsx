import { Loader } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './centered.module.css';

export function SplashScreen(): ReactNode {
  return (
    <main className={classes['screen']} aria-busy="true">
      <Loader size="sm" />
    </main>
  );
}
