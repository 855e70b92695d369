/** One measured line of a bench section: ours, and beside it what it is held against in the same run. */
export interface Row {
  /** What is measured, e.g. `mongo commits, 64 writers`. */
  readonly measure: string
  readonly unit: string
  readonly ours: number
  /** The raw way, an SDK, a floor: measured in the same run. */
  readonly against?: { readonly name: string; readonly value: number }
  /** What must hold: of `ours`, or of the ratio ours / against. */
  readonly bound?: Bound
}

export interface Bound {
  readonly of: 'ours' | 'ratio'
  readonly atLeast?: number
  readonly atMost?: number
}

/** Ours / against; null where there is nothing to hold it against. */
export const ratioOf = (row: Row): number | null =>
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

/** The rows as one text table, columns aligned, numbers to the right. */
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

/** The middle value; the mean of the two in the middle for an even count. NaN for none. */
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
