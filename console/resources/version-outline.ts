import type { Row } from './types.ts'

/** Fields that differ between any two versions. */
const ofEach = /^(id|version|status|test|review)$|_(id|at|by)$/

/** A value as lines, in which a text has its own. */
const linesOf = (value: unknown, path: string): readonly string[] => {
  if (value === null || value === undefined) return []
  if (typeof value === 'string' && value.includes('\n'))
    return [`${path}:`, ...value.split('\n').map((line) => `  ${line}`)]
  if (typeof value !== 'object') return [`${path}: ${value}`]
  return Object.entries(value).flatMap(([name, each]) =>
    linesOf(each, Array.isArray(value) ? `${path}[${Number(name) + 1}]` : path === '' ? name : `${path}.${name}`),
  )
}

/** What a version consists of, as text. */
export const outlineOf = (row: Row) =>
  linesOf(Object.fromEntries(Object.entries(row).filter(([name]) => !ofEach.test(name))), '').join('\n')
