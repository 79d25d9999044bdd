import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { publicQueries } from '../api/client.ts';
import classes from './shop-logo-and-name.module.css';

/** The shop's logo, or the first letter of its name if there is no logo, and the name. Renders nothing until the branding is loaded. */
export function ShopLogoAndName(): ReactNode {
  const { data: branding } = useQuery({ ...publicQueries.branding.get(), staleTime: 300_000 });
  if (!branding) return null;
  return (
    <span className={classes['mark']}>
      {branding.logo ? (
        <img src={branding.logo.url} alt="" width={24} height={24} />
      ) : (
        <span className={classes['letter']} aria-hidden="true">
          {branding.name.slice(0, 1)}
        </span>
      )}
      <span className={classes['name']}>{branding.name}</span>
    </span>
  );
}
