import '@mantine/core/styles/Pill.layer.css';
import '@mantine/core/styles/PillsInput.layer.css';
import type { WebhookEndpointCreate } from '@mandate/client-sdk';
import { MultiSelect, Stack, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { findFieldErrorDetail } from '../../../components/feedback/error-notice.tsx';
import { eventSubjects, eventTypes } from '../event-types-and-subjects.ts';
import { useDevelopersTranslations } from '../use-developers-translations.ts';

type EventFilter = WebhookEndpointCreate['events'][number];
export type EndpointValues = { readonly url: string; readonly events: readonly string[]; readonly description: string };

export const endpointFormErrorPointers = ['#/url', '#/events', '#/description'] as const;

const isEventFilter = (name: string): name is EventFilter =>
  name === '*' || eventTypes.some((type) => type === name) || eventSubjects.some((subject) => `${subject}.*` === name);

/** Converts the values of the form to a request body. */
export const endpointBodyFromValues = ({ url, events, description }: EndpointValues): WebhookEndpointCreate => ({
  url: url.trim(),
  events: events.filter(isEventFilter),
  description: description.trim() === '' ? null : description.trim(),
});

type Props = { readonly values: EndpointValues; readonly error: unknown; readonly onChange: (values: EndpointValues) => void };

export function EndpointFields({ values, error, onChange }: Props): ReactNode {
  const t = useDevelopersTranslations();
  const groups = eventSubjects.map((subject) => ({
    group: subject,
    items: [`${subject}.*`, ...eventTypes.filter((type) => type.startsWith(`${subject}.`))],
  }));
  return (
    <Stack gap="md">
      <TextInput
        data-autofocus
        label={t('endpoint.url')}
        description={t('endpoint.urlAbout')}
        type="url"
        required
        maxLength={2000}
        value={values.url}
        error={findFieldErrorDetail(error, '#/url')}
        onChange={(event) => onChange({ ...values, url: event.currentTarget.value })}
      />
      <MultiSelect
        label={t('endpoint.events')}
        description={t('endpoint.eventsAbout')}
        data={[{ value: '*', label: t('endpoint.allEvents') }, ...groups]}
        searchable
        required
        value={[...values.events]}
        error={findFieldErrorDetail(error, '#/events')}
        onChange={(events) => onChange({ ...values, events })}
      />
      <TextInput
        label={t('endpoint.description')}
        maxLength={500}
        value={values.description}
        error={findFieldErrorDetail(error, '#/description')}
        onChange={(event) => onChange({ ...values, description: event.currentTarget.value })}
      />
    </Stack>
  );
}
