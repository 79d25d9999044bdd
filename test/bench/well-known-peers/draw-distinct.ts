/** Draws values until `count` of them are distinct. */
export function drawDistinct<Value>(count: number, draw: () => Value): readonly Value[] {
  const drawn = new Set<Value>();
  while (drawn.size < count) drawn.add(draw());
  return [...drawn];
}
