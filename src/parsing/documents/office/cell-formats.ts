import { localName, readXml } from './office-xml.ts'

/** How the number of a cell is shown: as a date, a time of day, both, or a plain number. */
export type NumberKind = 'date' | 'time' | 'date-time' | 'number'

/** Formats that every program knows, by their numbers (ECMA-376, part 1, 18.8.30). */
const known: ReadonlyMap<number, NumberKind> = new Map([
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map((id) => [id, 'date'] as const),
  ...[18, 19, 20, 21, 45, 46, 47].map((id) => [id, 'time'] as const),
  [22, 'date-time'],
])

/** Returns the kind of number of each cell style, by its index in the styles of a workbook. */
export const cellFormats = (styles: string): readonly NumberKind[] => {
  const own = new Map<number, NumberKind>()
  const kinds: NumberKind[] = []
  let isOfCells = false
  readXml(styles, {
    onopentag: (prefixed, { numFmtId, formatCode = '' }) => {
      const name = localName(prefixed)
      if (name === 'numFmt') own.set(Number(numFmtId), kindOf(formatCode))
      if (name === 'cellXfs') isOfCells = true
      if (name === 'xf' && isOfCells) kinds.push(own.get(Number(numFmtId)) ?? known.get(Number(numFmtId)) ?? 'number')
    },
    onclosetag: (prefixed) => {
      if (localName(prefixed) === 'cellXfs') isOfCells = false
    },
  })
  return kinds
}

/** Returns the kind of a format code such as `yyyy-mm-dd hh:mm`. Quoted text and colours in it are no fields. */
const kindOf = (code: string): NumberKind => {
  const fields = code
    .slice(0, 200)
    .toLowerCase()
    .replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^[\]]*\]/g, '')
  const hasTime = /[hs]/.test(fields)
  const hasDate = /[yd]/.test(fields) || (!hasTime && /m/.test(fields))
  if (hasDate) return hasTime ? 'date-time' : 'date'
  return hasTime ? 'time' : 'number'
}

const dayMs = 86_400_000
/** Day 0 of the two calendars of workbooks: 1900, with its leap day that never was, and 1904. */
const [since1900, since1904] = [Date.UTC(1899, 11, 30), Date.UTC(1904, 0, 1)]
const maxDays = 2_958_466

/** Writes the number of a cell as it is shown: a date as `2026-03-01`; a number that is no valid date as it is. */
export const shownNumber = (value: string, kind: NumberKind, is1904: boolean): string => {
  const days = Number(value)
  if (kind === 'number' || !Number.isFinite(days) || days < 0 || days > maxDays) return plainNumber(value)
  const ms = (is1904 ? since1904 : since1900) + Math.round(days * 86_400) * 1_000
  const [date = '', time = ''] = new Date(ms).toISOString().slice(0, 19).split('T')
  if (kind === 'time' && days < 1) return time
  return kind === 'date' || ms % dayMs === 0 ? date : `${date} ${time}`
}

/** Removes the rounding error of binary numbers: 0.30000000000000004 is 0.3. */
const plainNumber = (value: string): string => {
  const number = Number(value)
  return value.length > 15 && Number.isFinite(number) ? String(Number(number.toPrecision(15))) : value
}
