import type { ReactNode } from 'react';
import { Route, Routes } from 'react-router';
import { usePermissions } from '../../api/permissions.tsx';
import { NotFoundPage } from '../../layout/not-found-page.tsx';
import { CreateProduct } from './detail/create-product.tsx';
import { ProductDetail } from './detail/product-detail.tsx';
import { ProductImport } from './import/product-import.tsx';
import { ProductList } from './list/product-list.tsx';

export function ProductPages(): ReactNode {
  const { can } = usePermissions();
  return (
    <Routes>
      <Route index element={<ProductList />} />
      <Route path="new" element={can('products.create') ? <CreateProduct /> : <NotFoundPage />} />
      <Route path="import" element={can('products.create') && can('productImports.create') ? <ProductImport /> : <NotFoundPage />} />
      <Route path=":productId" element={<ProductDetail />} />
      <Route path="*" element={<NotFoundPage />} />
    </Routes>
  );
}
