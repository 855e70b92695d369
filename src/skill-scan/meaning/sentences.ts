/** A sentence of a page, with its offset. */
export interface Sentence {
  readonly text: string
  readonly at: number
}

const maxSentences = 20_000
const longest = 1_200

/** The end of a sentence, and what may follow it. */
const ends = /[.!?;](?=\s|$|["'”»)])|[。！？；।؟]|\n/gu

/** A line that begins a paragraph of its own: a heading, an item of a list, a row, a quotation, a comment. */
const begins = /^[ \t]{0,24}(?:#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s|\||>|<!--|```|~~~|\/\/|\w{1,24}:\s)/u

/** Splits a text into sentences. Lines of one paragraph belong together, as a reader sees them. */
export const sentencesOf = (text: string): readonly Sentence[] => {
  const flowing = joinedLines(text)
  const found: Sentence[] = []
  let from = 0
  const take = (end: number): void => {
    const piece = flowing.slice(from, Math.min(end, from + longest))
    const prefix = piece.length - piece.trimStart().length
    if (piece.trim().length > 3 && found.length < maxSentences)
      found.push({ text: piece.trim().toLowerCase().replaceAll('\u0307', ''), at: from + prefix })
    from = end
  }
  for (const { index } of flowing.matchAll(ends)) take(index + 1)
  take(flowing.length)
  return found
}

/** Replaces ends of lines within a paragraph by spaces, so that offsets stay. */
const joinedLines = (text: string): string => {
  const lines = text.split('\n')
  let joined = lines[0] ?? ''
  for (const [index, line] of lines.slice(1).entries()) {
    const before = lines[index] ?? ''
    const isOpen =
      before.trim() !== '' &&
      line.trim() !== '' &&
      !begins.test(line) &&
      !/^[ \t]{0,24}(?:#{1,6}\s|```|~~~|---)/u.test(before)
    joined += `${isOpen && !/[.!?。！？।؟:：]\s{0,4}$/u.test(before) ? ' ' : '\n'}${line}`
  }
  return joined
}

const codeFile = /\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|tsx|jsx|rb|pl|php|ps1|go|rs|java|c|cpp|h|css|sql)$/iu
const spoken =
  /^[ \t]{0,40}(?:#(?!!)|\/\/|\*|\/\*|--|;|rem\s|"""|''')|["'`](?:[^"'`\s]{1,40}[ \t]{1,4}){5}[^"'`\n]{0,2000}["'`]/iu

/** Returns the part of a file that speaks: of a program only comments and long texts, with all else blank. */
export const spokenPart = (path: string, text: string): string =>
  codeFile.test(path) || /\.(?:json|ya?ml|toml|ini|cfg|conf|xml|csv|lock)$/iu.test(path)
    ? text
        .split('\n')
        .map((line) => (spoken.test(line) ? line : ' '.repeat(line.length)))
        .join('\n')
    : withoutCode(text)

const fence = /^[ \t>]{0,12}(?:`{3,12}|~{3,12})[ \t]{0,4}([\w+-]{0,24})/u
const speaking: ReadonlySet<string> = new Set([
  '',
  'text',
  'txt',
  'md',
  'markdown',
  'prompt',
  'plaintext',
  'none',
  'quote',
])

/** Blanks the code in the blocks of a page, but for comments and long texts. Blocks of text speak. */
const withoutCode = (text: string): string => {
  let open: string | null = null
  return text
    .split('\n')
    .map((line) => {
      const language = fence.exec(line)?.[1]
      if (language !== undefined) {
        open = open === null ? language.toLowerCase() : null
        return ' '.repeat(line.length)
      }
      return open === null || speaking.has(open) || spoken.test(line) ? line : ' '.repeat(line.length)
    })
    .join('\n')
}
