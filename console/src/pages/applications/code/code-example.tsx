import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { CopyTextButton } from '../../../components/forms/copy-text-button.tsx';
import { consoleEnvironment } from '../../../console-environment.ts';
import { useApplicationsTranslations } from '../use-applications-translations.ts';
import { createCurlExample } from './create-curl-example.ts';
import type { ExampleApplication } from './redirect-uri-for-code-examples.ts';
import { createTypescriptExample } from './create-typescript-example.ts';
import classes from './code.module.css';

const examples = { curl: createCurlExample, TypeScript: createTypescriptExample };

/** Example code that signs in with an application's client ID and calls the API. */
export function CodeExample({ application }: { readonly application: ExampleApplication }): ReactNode {
  const t = useApplicationsTranslations();
  const [language, setLanguage] = useState<keyof typeof examples>('curl');
  const code = examples[language](application, consoleEnvironment.issuer);
  return (
    <div>
      <div className={classes['tabs']}>
        <div className={classes['languages']}>
          {(['curl', 'TypeScript'] as const).map((name) => (
            <Button
              key={name}
              size="xs"
              variant={name === language ? 'light' : 'subtle'}
              aria-pressed={name === language}
              onClick={() => setLanguage(name)}
            >
              {name}
            </Button>
          ))}
        </div>
        <CopyTextButton text={code} size="xs" />
      </div>
      <pre className={classes['code']} role="region" aria-label={t('code.label', { language })} tabIndex={0}>
        {code}
      </pre>
    </div>
  );
}
