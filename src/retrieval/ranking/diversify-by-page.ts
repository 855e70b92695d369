import type { PassageTable } from '../passage-table.ts'
import { highest } from './top.ts'
import { shortGroup } from './weights.ts'

/** Candidates considered, as a multiple of the requested count, so that enough distinct pages are among them. */
const pool = 3

/** Options of `diversifyByPage`. */
export interface DiversifyOptions {
  readonly table: PassageTable
  /** Factor of a score for each better passage of the same page. */
  readonly again: number
  /** The same factor for a source that is as short as a page. */
  readonly againShort: number
  readonly count: number
}

/**
 * Returns the slots with the best scores, best first. The best passage of a page keeps its score; the others of that
 * page are lowered in `scores`, since two passages of one page are worth less than one each of two pages. A short source
 * without pages, such as an abstract, counts as a page.
 */
export function diversifyByPage(
  scores: Float32Array,
  { table, again, againShort, count }: DiversifyOptions,
): readonly number[] {
  if (again === 1 && againShort === 1) return highest(scores, count)
  const better = new Map<string, number>()
  const best = highest(scores, count * pool)
  for (const slot of best) {
    const page = table.pageOf(slot)
    const group = table.groups.numberOf(slot)
    if (page === -1 && (group === -1 || table.groups.sizeOf(group) > shortGroup)) continue
    const place = `${group}#${page}`
    const before = better.get(place) ?? 0
    scores[slot] = (scores[slot] ?? 0) * (page === -1 ? againShort : again) ** before
    better.set(place, before + 1)
  }
  return best.toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)).slice(0, count)
}
