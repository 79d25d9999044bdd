import type { ReactNode } from 'react';
import { Navigate, Route, Routes } from 'react-router';
import { usePermissions } from '../../api/permissions.tsx';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { listPermittedDevelopersSections } from './list-permitted-developers-sections.ts';
import { EventStreamPage } from './events/event-stream-page.tsx';
import { ApiKeyList } from './keys/api-key-list.tsx';
import { SigningKeyList } from './keys/signing-key-list.tsx';
import { EndpointDetail } from './webhooks/endpoint-detail.tsx';
import { EndpointList } from './webhooks/endpoint-list.tsx';

export function DeveloperPages(): ReactNode {
  const { can } = usePermissions();
  const [first] = listPermittedDevelopersSections(can);
  return (
    <Routes>
      {first && <Route index element={<Navigate to={first.path} replace />} />}
      {can('webhooks.list') && <Route path="webhooks" element={<EndpointList />} />}
      {can('webhooks.get') && <Route path="webhooks/:endpointId" element={<EndpointDetail />} />}
      {can('events.list') && <Route path="events" element={<EventStreamPage />} />}
      {can('apiKeys.list') && <Route path="api-keys" element={<ApiKeyList />} />}
      {can('signingKeys.rotate') && <Route path="signing-keys" element={<SigningKeyList />} />}
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
