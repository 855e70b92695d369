/** One line of a bench section: Troupe's value, and a value from the same run to compare it with. */
export interface Row {
  /** What is measured, e.g. `mongo commits, 64 writers`. */
  readonly measure: string
  readonly unit: string
  readonly ours: number
  /** Value of an alternative (the raw driver, an SDK, a floor) from the same run. */
  readonly against?: { readonly name: string; readonly value: number }
  /** Bound on `ours`, or on the ratio ours / against. */
  readonly bound?: Bound
}

interface Bound {
  readonly of: 'ours' | 'ratio'
  readonly atLeast?: number
  readonly atMost?: number
}

/** Returns ours / against; null when there is no value to compare with, or it is 0. */
const ratioOf = (row: Row): number | null =>
  row.against === undefined || row.against.value === 0 ? null : row.ours / row.against.value

/** Whether the bound holds; null for a row without one. */
export function holds(row: Row): boolean | null {
  if (row.bound === undefined) return null
  const value = row.bound.of === 'ours' ? row.ours : ratioOf(row)
  if (value === null) return false
  return (
    value >= (row.bound.atLeast ?? Number.NEGATIVE_INFINITY) && value <= (row.bound.atMost ?? Number.POSITIVE_INFINITY)
  )
}

/** Formats the rows as a text table with aligned columns, numbers to the right. */
export function tableOf(sections: Readonly<Record<string, readonly Row[]>>): string {
  const head = ['section', 'measure', 'ours', 'unit', 'against', '', 'ratio', 'bound', '']
  const cells = Object.entries(sections).flatMap(([section, rows]) => rows.map((row) => cellsOf(section, row)))
  const widths = head.map((name, at) => Math.max(name.length, ...cells.map((line) => line[at]?.length ?? 0)))
  const toTheRight = new Set([2, 5, 6])
  const format = (line: readonly string[]) =>
    line
      .map((cell, at) => (toTheRight.has(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
  return [head, widths.map((width) => '-'.repeat(width)), ...cells].map(format).join('\n')
}

/** Median; the mean of the two middle values for an even count, NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return ((sorted[Math.floor(at)] ?? Number.NaN) + (sorted[Math.ceil(at)] ?? Number.NaN)) / 2
}

function cellsOf(section: string, row: Row): readonly string[] {
  const ratio = ratioOf(row)
  const kept = holds(row)
  return [
    section,
    row.measure,
    numberText(row.ours),
    row.unit,
    row.against?.name ?? '',
    row.against === undefined ? '' : numberText(row.against.value),
    ratio === null ? '' : `${ratio.toFixed(2)}x`,
    boundText(row.bound),
    kept === null ? '' : kept ? 'ok' : 'MISSED',
  ]
}

function boundText(bound: Bound | undefined): string {
  if (bound === undefined) return ''
  const limits = [
    ...(bound.atLeast === undefined ? [] : [`>= ${bound.atLeast}`]),
    ...(bound.atMost === undefined ? [] : [`<= ${bound.atMost}`]),
  ]
  return `${limits.join(', ')}${bound.of === 'ratio' ? 'x' : ''}`
}

const numberText = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
