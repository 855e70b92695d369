/** Returns the indices of the highest values above 0, highest first; equal values in order of index. */
export function highest(values: Float32Array, limit: number): readonly number[] {
  const max = Math.max(0, Math.floor(limit))
  if (max === 0) return []
  const heap: number[] = []
  let min = 0
  for (let place = 0; place < values.length; place++) {
    const value = values[place] ?? 0
    // of equal values the earlier one is kept
    if (!(value > min)) continue
    if (heap.length < max) rise(heap, values, place)
    else sink(heap, values, place)
    if (heap.length === max) min = values[heap[0] ?? 0] ?? 0
  }
  return heap.sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
}

/** Whether the first index is to be evicted before the second; of equal values the later one is. */
const isWorse = (values: Float32Array, place: number, than: number): boolean => {
  const own = values[place] ?? 0
  const other = values[than] ?? 0
  return own < other || (own === other && place > than)
}

/** Adds an index to the heap, whose root is the worst. */
function rise(heap: number[], values: Float32Array, place: number): void {
  let at = heap.push(place) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above] ?? 0
    if (!isWorse(values, place, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = place
}

/** Replaces the root of the heap, the worst, by an index. */
function sink(heap: number[], values: Float32Array, place: number): void {
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    if (below >= heap.length) break
    if (below + 1 < heap.length && isWorse(values, heap[below + 1] ?? 0, heap[below] ?? 0)) below++
    const child = heap[below] ?? 0
    if (!isWorse(values, child, place)) break
    heap[at] = child
    at = below
  }
  heap[at] = place
}
