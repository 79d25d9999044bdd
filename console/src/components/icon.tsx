import type { ReactNode } from 'react';

/** Drawings of 20 by 20 units, with lines that are 1.5 units wide. */
const drawings = {
  home: 'M3.5 9 10 3.5 16.5 9v7a.5.5 0 0 1-.5.5h-3.5v-5h-5v5H4a.5.5 0 0 1-.5-.5Z',
  orders: 'M4.5 6.5h11l.8 10H3.7ZM7 8.5V6a3 3 0 0 1 6 0v2.5',
  products: 'm10 3 6.5 3.5v7L10 17l-6.5-3.5v-7ZM3.7 6.7 10 10l6.3-3.3M10 10v6.8',
  customers: 'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 16.5c0-3 2-5 5-5s5 2 5 5M13 9.4a2.8 2.8 0 0 0 0-5.6M14.5 11.9c1.8.6 3 2.2 3 4.6',
  applications: 'M3.5 3.5h5v5h-5ZM11.5 3.5h5v5h-5ZM3.5 11.5h5v5h-5ZM14 11.5v5M11.5 14h5',
  developers: 'm6.5 6-4 4 4 4M13.5 6l4 4-4 4M11.5 4l-3 12',
  audit: 'M10 2.8 16 5v4.5c0 3.7-2.4 6.3-6 7.7-3.6-1.4-6-4-6-7.7V5ZM7.3 9.8l2 2 3.5-3.8',
  settings:
    'M3.5 6h8M15 6h1.5M3.5 14H5M8.5 14h8M13.2 7.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM6.8 15.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM13 13l3.5 3.5',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  chevron: 'm7.5 5 5 5-5 5',
  back: 'M12.5 5 7.5 10l5 5',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  bookmark: 'M6 3.5h8v13l-4-3-4 3Z',
  sun: 'M10 13.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM10 2.5v1.6M10 15.9v1.6M2.5 10h1.6M15.9 10h1.6M4.7 4.7l1.1 1.1M14.2 14.2l1.1 1.1M15.3 4.7l-1.1 1.1M5.8 14.2l-1.1 1.1',
  language: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM3.2 10h13.6M10 3c2 2 2.8 4.4 2.8 7S12 15 10 17c-2-2-2.8-4.4-2.8-7S8 5 10 3',
  signOut: 'M8 3.5H4.5a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1H8M12.5 6.5 16 10l-3.5 3.5M16 10H7.5',
  truck:
    'M2.5 5h9v8.5h-9ZM11.5 8h3.2l2.8 3v2.5h-6ZM6 15.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM14 15.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  money: 'M2.5 5h15v10h-15ZM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM5 7.5h.01M15 12.5h.01',
  alert: 'M10 3 18 16.5H2ZM10 8v4M10 14.3h.01',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 6v4.3l2.8 1.7',
  note: 'M4.5 3.5h11v9l-4 4h-7ZM11.5 16.5v-4h4M7 7h6M7 10h4',
} as const;

export type IconName = keyof typeof drawings;

/** A decorative icon. The text beside the icon, or the label of its button, has the same meaning. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2.5 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={drawings[name]} />
    </svg>
  );
}
