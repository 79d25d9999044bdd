import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { CustomerDetail } from './detail/customer-detail.tsx';
import { CustomerList } from './list/customer-list.tsx';

export function CustomerPages(): ReactNode {
  return (
    <Routes>
      <Route index element={<CustomerList />} />
      <Route path=":userId" element={<CustomerDetail />} />
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
