import { MandateProvider, useSession } from '@mandate/client-sdk/react';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense, useEffect, type ReactNode } from 'react';
import { BrowserRouter, useNavigate } from 'react-router';
import { apiClient, consoleSignIn } from './api/client.ts';
import { LiveEventsAndRefetchProvider } from './api/live-events.tsx';
import { PermissionsProvider } from './api/permissions.tsx';
import { ErrorBoundary } from './components/feedback/error-boundary.tsx';
import { consoleEnvironment } from './console-environment.ts';
import { ConsoleShell } from './layout/console-shell.tsx';
import { SignInPage } from './layout/sign-in-page.tsx';
import { SplashScreen } from './layout/splash-screen.tsx';
import { theme } from './theme/theme.ts';

/** The SDK already retries requests that are safe to repeat. */
const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 10_000 }, mutations: { retry: false } },
});

export function App(): ReactNode {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => consoleEnvironment.nonce}>
      <QueryClientProvider client={queryClient}>
        <BrowserRouter basename={consoleEnvironment.path}>
          <Suspense fallback={<SplashScreen />}>
            <ErrorBoundary>
              <Session />
            </ErrorBoundary>
          </Suspense>
          <Notifications position="bottom-right" autoClose={4_000} />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  );
}

function Session(): ReactNode {
  const navigate = useNavigate();
  const showPageBeforeSignIn = (returnTo: string): void => {
    const { pathname, search } = new URL(returnTo);
    void navigate(pathname.slice(consoleEnvironment.path.length) + search, { replace: true });
  };
  return (
    <MandateProvider client={apiClient} signIn={consoleSignIn} onReturn={showPageBeforeSignIn}>
      <SignedInOrOut />
    </MandateProvider>
  );
}

function SignedInOrOut(): ReactNode {
  const { status } = useSession();
  useEffect(() => {
    // Removes the previous user's cached data in every tab, but not the branding, which the sign-in page is loading.
    if (status === 'signed-out') queryClient.removeQueries({ queryKey: ['mandate'], type: 'inactive' });
  }, [status]);
  if (status === 'loading') return <SplashScreen />;
  if (status === 'signed-out') return <SignInPage />;
  return (
    <PermissionsProvider>
      <LiveEventsAndRefetchProvider>
        <ConsoleShell />
      </LiveEventsAndRefetchProvider>
    </PermissionsProvider>
  );
}
