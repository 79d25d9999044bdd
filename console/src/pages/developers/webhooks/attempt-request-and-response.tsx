import type { WebhookDeliveryDetails } from '@mandate/client-sdk';
import type { ReactNode } from 'react';
import { useDevelopersTranslations } from '../use-developers-translations.ts';
import classes from './delivery-dialog.module.css';

type Attempt = WebhookDeliveryDetails['attempts'][number];
type Props = {
  /** Position of the attempt in the list, starting with 1. */
  readonly number: number;
  readonly attempt: Attempt;
};

/** The headers of the request, and the response to it. Renders nothing for older attempts, whose requests and responses were not stored. */
export function AttemptRequestAndResponse({ number, attempt: { request, response, status_code: status } }: Props): ReactNode {
  const t = useDevelopersTranslations();
  if (!request) return null;
  return (
    <details className={classes['exchange']}>
      <summary>{t('exchange.show', { number })}</summary>
      <Block label={t('exchange.request', { number })} text={[`POST ${request.url}`, ...linesOf(request.headers)].join('\n')} />
      {response && (
        <>
          <Block label={t('exchange.response', { number })} text={[`HTTP ${status ?? ''}`, ...linesOf(response.headers)].join('\n')} />
          <Body number={number} response={response} />
        </>
      )}
    </details>
  );
}

function Body({ number, response }: { readonly number: number; readonly response: NonNullable<Attempt['response']> }): ReactNode {
  const t = useDevelopersTranslations();
  if (response.body === null) return <p>{t('exchange.noText')}</p>;
  if (response.body === '') return <p>{t('exchange.emptyBody')}</p>;
  return (
    <>
      <Block label={t('exchange.body', { number })} text={response.body} />
      {response.body_truncated && <p>{t('exchange.truncated')}</p>}
    </>
  );
}

const linesOf = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

const Block = ({ label, text }: { readonly label: string; readonly text: string }): ReactNode => (
  // `tabIndex` lets keyboard users scroll.
  <pre className={classes['block']} role="region" aria-label={label} tabIndex={0}>
    {text}
  </pre>
);
