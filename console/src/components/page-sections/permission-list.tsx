import type { ReactNode } from 'react';
import { useCommonTranslations, useTranslations } from '../../languages/use-translations.tsx';
import type applications from '../../pages/applications/messages/en.json';
import classes from './permission-list.module.css';

/** Returns a function that describes a scope in the user's language. */
export function useDescribeScope(): (scope: string) => string {
  const t = useTranslations<typeof applications>('applications');
  return (scope) => t.value('scope', scope);
}

/** Number of permissions that are always visible. If only one more exists, it is visible too. */
const maxVisible = 3;

/** Describes scopes. A long list shows its first entries, and a button for the others. */
export function PermissionList({ scopes }: { readonly scopes: readonly string[] }): ReactNode {
  const t = useCommonTranslations();
  const visible = scopes.length > maxVisible + 1 ? maxVisible : scopes.length;
  const others = scopes.slice(visible);
  return (
    <div className={classes['permissions']}>
      <Permissions scopes={scopes.slice(0, visible)} />
      {others.length > 0 && (
        <details>
          <summary>{t('permissions.more', { count: others.length })}</summary>
          <Permissions scopes={others} />
        </details>
      )}
    </div>
  );
}

function Permissions({ scopes }: { readonly scopes: readonly string[] }): ReactNode {
  const describeScope = useDescribeScope();
  return (
    <ul>
      {scopes.map((scope) => (
        <li key={scope} title={scope}>
          {describeScope(scope)}
        </li>
      ))}
    </ul>
  );
}
