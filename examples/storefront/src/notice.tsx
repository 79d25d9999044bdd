import { ApiError } from '@mandate/client-sdk';
import { useSession } from '@mandate/client-sdk/react';
import type { ReactNode } from 'react';

/** An error message that screen readers announce when it appears. */
export const Notice = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div role="alert">{children ? <div className="notice">{children}</div> : null}</div>
);

/** Shows the reason for a failure. If the customer denied a permission, offers to request the permission again. */
export function FailureNotice({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): ReactNode {
  const { signIn } = useSession();
  if (error === null || error === undefined) return <Notice>{null}</Notice>;
  if (error instanceof ApiError && error.code === 'insufficient_scope') {
    return (
      <Notice>
        <p>You have not allowed this shop to do that.</p>
        <button onClick={() => void signIn()}>Change permissions</button>
      </Notice>
    );
  }
  return (
    <Notice>
      <p>{error instanceof Error ? error.message : 'Something went wrong.'}</p>
      {onRetry && (
        <button className="quiet" onClick={onRetry}>
          Try again
        </button>
      )}
    </Notice>
  );
}
