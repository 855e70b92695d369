import type { PassageTable } from '../passage-table.ts'
import { highest } from './top.ts'

/** Candidates considered, as a multiple of the requested count, so that enough distinct pages are among them. */
const pool = 3

/** Options of `diversifyByPage`. */
export interface DiversifyOptions {
  readonly table: PassageTable
  /** Factor of a score for each better passage of the same page. */
  readonly again: number
  readonly count: number
}

/**
 * Returns the slots with the best scores, best first. The best passage of a page keeps its score; the others of that
 * page are lowered in `scores`, since two passages of one page are worth less than one each of two pages.
 */
export function diversifyByPage(scores: Float32Array, { table, again, count }: DiversifyOptions): readonly number[] {
  if (again === 1) return highest(scores, count)
  const better = new Map<string, number>()
  const best = highest(scores, count * pool)
  for (const slot of best) {
    const page = table.pageOf(slot)
    if (page === -1) continue
    const place = `${table.groups.numberOf(slot)}#${page}`
    const before = better.get(place) ?? 0
    scores[slot] = (scores[slot] ?? 0) * again ** before
    better.set(place, before + 1)
  }
  return best.toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)).slice(0, count)
}
