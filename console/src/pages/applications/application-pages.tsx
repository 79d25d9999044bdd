import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { usePermissions } from '../../api/permissions.tsx';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { ApplicationDetail } from './detail/application-detail.tsx';
import { ApplicationList } from './list/application-list.tsx';
import { RegisterApplication } from './register/register-application.tsx';

export function ApplicationPages(): ReactNode {
  const { can } = usePermissions();
  return (
    <Routes>
      <Route index element={<ApplicationList />} />
      <Route path="new" element={can('applications.create') ? <RegisterApplication /> : <NotFoundPage />} />
      <Route path=":applicationId" element={<ApplicationDetail />} />
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
