/** Share of the relevant passages that are among the first `k`. */
export function recallAt(found: readonly string[], relevant: ReadonlyMap<string, number>, k: number): number {
  const first = found.slice(0, k).filter((id) => relevant.has(id)).length
  return first / Math.max(1, relevant.size)
}

/** 1 / rank of the first relevant passage; 0 when there is none. */
export function reciprocalRank(found: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const place = found.findIndex((id) => relevant.has(id))
  return place === -1 ? 0 : 1 / (place + 1)
}

/** Normalised discounted cumulative gain of the first `k`. */
export function ndcgAt(found: readonly string[], relevant: ReadonlyMap<string, number>, k: number): number {
  const gain = (grades: readonly number[]): number =>
    grades.slice(0, k).reduce((sum, grade, place) => sum + grade / Math.log2(place + 2), 0)
  const ideal = gain([...relevant.values()].toSorted((a, b) => b - a))
  return ideal === 0 ? 0 : gain(found.map((id) => relevant.get(id) ?? 0)) / ideal
}

/** Probability that a positive score is higher than a negative one (area under the ROC curve). */
export function auroc(positive: readonly number[], negative: readonly number[]): number {
  const all = [...positive.map((score) => ({ score, is: 1 })), ...negative.map((score) => ({ score, is: 0 }))]
  all.sort((a, b) => a.score - b.score)
  let [sum, at] = [0, 0]
  while (at < all.length) {
    let end = at
    while (end < all.length && all[end]?.score === all[at]?.score) end++
    const rank = (at + 1 + end) / 2
    for (; at < end; at++) sum += all[at]?.is === 1 ? rank : 0
  }
  return (sum - (positive.length * (positive.length + 1)) / 2) / (positive.length * negative.length)
}

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length
