/** Places of the highest values above 0, highest first; of equal ones the first. */
export function highest(values: Float32Array, limit: number): readonly number[] {
  const best: number[] = []
  let least = 0
  for (let place = 0; place < values.length; place++) {
    const value = values[place] ?? 0
    if (value <= least || Number.isNaN(value)) continue
    best.push(place)
    if (best.length < limit * 4 + 64) continue
    keep(best, values, limit)
    least = values[best.at(-1) ?? 0] ?? 0
  }
  keep(best, values, limit)
  return best
}

function keep(places: number[], values: Float32Array, limit: number): void {
  places.sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
  places.length = Math.min(places.length, Math.max(0, Math.floor(limit)))
}
