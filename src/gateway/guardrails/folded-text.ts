/** A text in another spelling, and the index in the original of each of its UTF-16 units; null: the same. */
export interface Folded {
  readonly text: string
  readonly at: readonly number[] | null
}

/** Characters that are not visible, or that only change how others look. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u
const mark = /[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]/gu
const unusual = /[^\x20-\x7E]| {2}/
/** Without the byte order mark, which is invisible. */
const blank = /[^\S\uFEFF]/u

/** Most characters whose spelling is kept. */
const maxKnown = 4_096
const known = { plain: new Map<string, string>(), deep: new Map<string, string>() }

/**
 * Returns a text without invisible characters and with full-width and other compatible forms as plain ones.
 *
 * @param deep also without case and accents, and with one space for each run of blanks.
 */
export const folded = (text: string, deep: boolean): Folded => {
  if (!unusual.test(text)) return { text: deep ? text.toLowerCase() : text, at: null }
  const parts: string[] = []
  const at: number[] = []
  let [from, wasBlank] = [0, false]
  for (const char of text) {
    const isBlank = deep && blank.test(char)
    const made = isBlank ? ' ' : spelled(char, deep)
    if (!(isBlank && wasBlank) && made !== '') {
      parts.push(made)
      for (let unit = 0; unit < made.length; unit++) at.push(from)
    }
    if (made !== '') wasBlank = isBlank
    from += char.length
  }
  at.push(from)
  return { text: parts.join(''), at }
}

const spelled = (char: string, deep: boolean): string => {
  if (char < '\u0080') return deep ? char.toLowerCase() : char
  const spellings = deep ? known.deep : known.plain
  const found = spellings.get(char)
  if (found !== undefined) return found
  const made = invisible.test(char) ? '' : deep ? withoutMarks(char) : char.normalize('NFKC')
  if (spellings.size >= maxKnown) spellings.clear()
  spellings.set(char, made)
  return made
}

const withoutMarks = (char: string): string => char.normalize('NFKD').replaceAll(mark, '').toLowerCase()

/** Returns the place in the original text of a place in its folded form. */
export const placeIn = (
  { at }: Folded,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } =>
  at === null ? { start, end } : { start: at[start] ?? 0, end: at[end] ?? at.at(-1) ?? 0 }
