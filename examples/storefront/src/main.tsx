import { MandateProvider } from '@mandate/client-sdk/react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { customerClient, signIn } from './shop.ts';

// The SDK already retries failed requests.
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 1_000 } } });

createRoot(document.querySelector('#root') ?? document.body).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      {/* The two URLs differ only in the fragment, so the browser does not reload the page. */}
      <MandateProvider client={customerClient} signIn={signIn} onReturn={(url) => location.replace(url)}>
        <App />
      </MandateProvider>
    </QueryClientProvider>
  </StrictMode>,
);
