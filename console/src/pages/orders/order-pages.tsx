import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { usePermissions } from '../../api/permissions.tsx';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { ApprovalList } from './approval-list.tsx';
import { OrderDetail } from './detail/order-detail.tsx';
import { OrderList } from './order-list.tsx';

export function OrderPages(): ReactNode {
  const canListApprovals = usePermissions().can('approvals.listAll');
  return (
    <Routes>
      <Route index element={<OrderList />} />
      {canListApprovals && <Route path="approvals" element={<ApprovalList />} />}
      <Route path=":orderId" element={<OrderDetail />} />
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
