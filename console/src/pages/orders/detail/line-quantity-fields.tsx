import type { Order } from '@mandate/client-sdk';
import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './order-detail.module.css';

/** Entered quantities by line number. */
export type LineQuantities = Readonly<Record<number, string>>;

type Props = {
  readonly legend: string;
  readonly order: Order;
  /** Largest quantity of each line; lines without a quantity are not shown. */
  readonly maximums: Readonly<Record<number, number>>;
  readonly quantities: LineQuantities;
  readonly onChange: (quantities: LineQuantities) => void;
};

/** Quantity fields for the lines of an order. */
export function LineQuantityFields({ legend, order, maximums, quantities, onChange }: Props): ReactNode {
  return (
    <fieldset className={classes['quantities']}>
      <legend>{legend}</legend>
      {order.items
        .filter(({ line }) => (maximums[line] ?? 0) > 0)
        .map(({ line, name }) => (
          <label key={line}>
            <span>{name}</span>
            <TextInput
              type="number"
              min={0}
              max={maximums[line] ?? 0}
              step={1}
              value={quantities[line] ?? '0'}
              rightSection={`/ ${maximums[line] ?? 0}`}
              rightSectionWidth={44}
              onChange={(event) => onChange({ ...quantities, [line]: event.currentTarget.value })}
            />
          </label>
        ))}
    </fieldset>
  );
}

/** Returns the lines that have a quantity, in the format of the API. */
export const linesFromQuantities = (quantities: LineQuantities): { line: number; quantity: number }[] =>
  Object.entries(quantities)
    .map(([line, quantity]) => ({ line: Number(line), quantity: Number(quantity) }))
    .filter(({ quantity }) => quantity > 0);
