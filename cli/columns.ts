import type {
  ApiVersion,
  DeliveryMethod,
  OrderItem,
  OrderSummary,
  Payment,
  Product,
  Refund,
  Shipment,
  StockAdjustment,
  Task,
  User,
} from '@mandate/client-sdk';

type ColumnsOf<Item> = readonly (keyof Item & string)[];

/** What a table shows of each item; all its simple fields where nothing is said here. */
export const columns: Readonly<Record<string, readonly string[]>> = {
  'versions.list': ['version', 'status', 'deprecated_at', 'sunset_at'] satisfies ColumnsOf<ApiVersion>,
  'products.list': ['id', 'sku', 'name', 'category', 'price', 'stock'] satisfies ColumnsOf<Product>,
  'products.listStockAdjustments': ['id', 'delta', 'stock_after', 'reason', 'created_at'] satisfies ColumnsOf<StockAdjustment>,
  'deliveryMethods.list': ['code', 'name', 'price', 'requires_address'] satisfies ColumnsOf<DeliveryMethod>,
  'users.list': ['id', 'name', 'email', 'status', 'role', 'created_at'] satisfies ColumnsOf<User>,
  'payments.list': ['id', 'attempt', 'provider', 'status', 'amount', 'refunded_amount', 'created_at'] satisfies ColumnsOf<Payment>,
  'payments.listAll': ['id', 'order_id', 'provider', 'status', 'amount', 'refunded_amount', 'created_at'] satisfies ColumnsOf<Payment>,
  'refunds.list': ['id', 'payment_id', 'status', 'amount', 'reason', 'created_at'] satisfies ColumnsOf<Refund>,
  'refunds.listAll': ['id', 'order_id', 'payment_id', 'status', 'amount', 'reason', 'created_at'] satisfies ColumnsOf<Refund>,
  'shipments.list': ['id', 'status', 'carrier', 'tracking_number', 'created_at'] satisfies ColumnsOf<Shipment>,
  'shipments.listAll': ['id', 'order_id', 'status', 'carrier', 'tracking_number', 'created_at'] satisfies ColumnsOf<Shipment>,
  'tasks.list': ['id', 'type', 'status', 'created_at', 'finished_at'] satisfies ColumnsOf<Task>,
  'orders.list': ['id', 'status', 'payment_status', 'total', 'item_count', 'created_at'] satisfies ColumnsOf<OrderSummary>,
};

/** The same for lists within an object. */
export const innerColumns: Readonly<Record<string, readonly string[]>> = {
  items: ['line', 'product_id', 'sku', 'name', 'quantity', 'unit_price', 'total'] satisfies ColumnsOf<OrderItem>,
};
