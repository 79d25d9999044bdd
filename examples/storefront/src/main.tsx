import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { signIn } from './shop.ts';

// The SDK already retries failed requests.
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 1_000 } } });

async function start(): Promise<void> {
  const root = createRoot(document.querySelector('#root') ?? document.body);
  const outcome = await signIn.complete().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  root.render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App signedIn={await signIn.signedIn()} notice={outcome} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
