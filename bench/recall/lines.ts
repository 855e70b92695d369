import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from '../row.ts'

/** Parses the lines of a JSONL file of a folder of sets; empty when there is no such file. */
export const linesOf = <T>(folder: string | null, name: string, parse: (line: string) => T): readonly T[] => {
  const path = folder === null ? null : join(folder, name)
  if (path === null || !existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parse)
}

/** Returns the share of cases for which something holds, as rows for all of them and by each property that is stated. */
export const sharesBy = <T>(cases: readonly T[], { measure, by, holds, bound }: SharesOf<T>): readonly Row[] => {
  const shareOf = (some: readonly T[]): number => some.filter(holds).length / some.length
  if (cases.length === 0) return []
  const whole = { measure, unit: '', ours: shareOf(cases), ...(bound !== undefined && { bound }) }
  const groups = Object.entries(by).flatMap(([property, of]) =>
    [...Map.groupBy(cases, of)]
      .filter(([value]) => value !== '')
      .map(([value, some]) => ({
        measure: `${measure}, ${property} ${value} (${some.length})`,
        unit: '',
        ours: shareOf(some),
      })),
  )
  return [whole, ...groups]
}

/** What is counted among cases. */
export interface SharesOf<T> {
  readonly measure: string
  readonly by: Readonly<Record<string, (each: T) => string>>
  readonly holds: (each: T) => boolean
  readonly bound?: { readonly of: 'ours'; readonly atLeast?: number; readonly atMost?: number }
}
