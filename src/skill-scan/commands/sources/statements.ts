/** A statement of a program, with its offset. Comments are left out; text over several lines is one statement. */
export interface SourceStatement {
  readonly text: string
  readonly at: number
}

const maxStatements = 8_000
const longest = 16_384

/** What a scan of a program is within: brackets, and a string that ends with a mark. */
interface Place {
  depth: number
  mark: string
}

/**
 * Splits a program of Python or JavaScript into its statements: at ends of lines and semicolons that are in no
 * brackets and in no string.
 */
export const statementsOf = (source: string, language: 'python' | 'javascript'): readonly SourceStatement[] => {
  const found: SourceStatement[] = []
  const place: Place = { depth: 0, mark: '' }
  let from = 0
  let text = ''
  const end = (at: number): void => {
    if (text.trim() !== '' && found.length < maxStatements) found.push({ text: text.trim(), at: from })
    text = ''
    from = at
    place.depth = 0
  }
  for (let at = 0; at < source.length; ) {
    const comment = place.mark === '' ? commentEnd(source, at, language) : at
    if (comment > at) {
      at = comment
      continue
    }
    const read = nextPiece(source, at, place)
    const isEnd = place.mark === '' && (read === '\n' || read === ';') && (place.depth <= 0 || text.length > longest)
    const opensBlock =
      language === 'javascript' &&
      place.mark === '' &&
      read === '{' &&
      place.depth > 0 &&
      /(?:=>|\)|else|try|do)\s{0,8}$/u.test(text.slice(-24))
    if (isEnd) end(at + 1)
    else {
      if (text === '') from = at
      text += read
      if (opensBlock || (language === 'javascript' && read === '{' && place.depth === 1 && isBlock(text))) end(at + 1)
    }
    at += read.length
  }
  end(source.length)
  return found
}

/** Whether a brace opens a block of statements, and not a value. */
const isBlock = (text: string): boolean => /(?:=>|\)|\belse|\btry|\bdo|\bfinally)\s{0,8}\{$/u.test(text.slice(-32))

/** Reads a character, or a whole mark of a string; keeps the place. */
const nextPiece = (source: string, at: number, place: Place): string => {
  const letter = source[at] ?? ''
  if (place.mark !== '') {
    if (letter === '\\') return source.slice(at, at + 2)
    if (source.startsWith(place.mark, at)) {
      const { mark } = place
      place.mark = ''
      return mark
    }
    // a string of one line that is not closed ends with its line
    if (letter === '\n' && (place.mark === '"' || place.mark === "'")) place.mark = ''
    return letter
  }
  if (letter === '"' || letter === "'" || letter === '`') {
    place.mark = source.startsWith(letter.repeat(3), at) && letter !== '`' ? letter.repeat(3) : letter
    return place.mark
  }
  if (letter === '(' || letter === '[' || letter === '{') place.depth += 1
  if (letter === ')' || letter === ']' || letter === '}') place.depth -= 1
  return letter
}

const commentEnd = (source: string, at: number, language: 'python' | 'javascript'): number => {
  const isLine = language === 'python' ? source[at] === '#' : source.startsWith('//', at) && source[at - 1] !== ':'
  if (isLine) {
    const end = source.indexOf('\n', at)
    return end < 0 ? source.length : end
  }
  if (language === 'javascript' && source.startsWith('/*', at)) {
    const end = source.indexOf('*/', at + 2)
    return end < 0 ? source.length : end + 2
  }
  return at
}

const strings =
  /"""([\s\S]{0,8192}?)"""|'''([\s\S]{0,8192}?)'''|"((?:[^"\\\n]|\\.){0,8192})"|'((?:[^'\\\n]|\\.){0,8192})'|`((?:[^`\\]|\\[\s\S]){0,8192})`/gu

export const stringsIn = (text: string): readonly string[] =>
  [...text.matchAll(strings)].slice(0, 200).map((match) => match.slice(1).find((each) => each !== undefined) ?? '')

/**
 * Returns a statement with its paths and texts put together: the folder of the user is `~`, parts of a path are joined
 * with slashes, and texts that are added become one.
 */
export const assembled = (text: string): string =>
  text
    .replaceAll(
      /(?:pathlib\.)?Path\.home\(\)|os\.path\.expanduser\(\s{0,4}f?["']~["']\s{0,4}\)|(?:os\.)?homedir\(\)|os\.environ(?:\.get\(|\[)\s{0,2}["'](?:HOME|USERPROFILE)["']\s{0,2}[\])]|os\.getenv\(["'](?:HOME|USERPROFILE)["']\)|process\.env\.(?:HOME|USERPROFILE)\b|\$\{(?:os\.homedir\(\)|process\.env\.HOME)\}/gu,
      '"~"',
    )
    .replaceAll(
      /["']\s{0,4}\/\s{0,4}["']|(?<=[~\w.])["']\s{0,4},\s{0,4}["'](?=[.\w])(?!\w{1,40}["']\s{0,4}[:=])/gu,
      '/',
    )
    .replaceAll(/["']\s{0,4}\+\s{0,4}["']/gu, '')
