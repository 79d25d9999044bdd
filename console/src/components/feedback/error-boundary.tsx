import { MandateError } from '@mandate/client-sdk';
import { QueryErrorResetBoundary } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';

type Props = { readonly children: ReactNode; readonly onReset: () => void };
type State = { readonly error: unknown };

class Boundary extends Component<Props, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const retry = (): void => {
      // A module that failed to load cannot be imported again. After a server update, the file of the module may no longer exist.
      if (!(error instanceof MandateError)) return location.reload();
      this.props.onReset();
      this.setState({ error: undefined });
    };
    return <ErrorNotice error={error} onRetry={retry} />;
  }
}

/** Shows an error instead of the children if they fail to load or render. */
export function ErrorBoundary({ children }: { readonly children: ReactNode }): ReactNode {
  return <QueryErrorResetBoundary>{({ reset }) => <Boundary onReset={reset}>{children}</Boundary>}</QueryErrorResetBoundary>;
}
