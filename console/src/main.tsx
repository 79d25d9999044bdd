import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './theme/import-component-library-stylesheets.ts';
import { App } from './app.tsx';
import { consoleEnvironment } from './console-environment.ts';

// Nonce for the style elements that dialogs use to lock scrolling (package get-nonce).
Reflect.set(globalThis, '__webpack_nonce__', consoleEnvironment.nonce);

const root = document.querySelector('#console');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
