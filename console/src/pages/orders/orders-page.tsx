import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { OrderDetail } from './detail/order-detail.tsx';
import { OrderList } from './order-list.tsx';

export function Page(): ReactNode {
  return (
    <Routes>
      <Route index element={<OrderList />} />
      <Route path=":orderId" element={<OrderDetail />} />
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
