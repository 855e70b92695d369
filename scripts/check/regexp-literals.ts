/** A RegExp literal of a source text. */
export interface RegExpLiteral {
  readonly source: string
  readonly flags: string
  /** Line, from 1. */
  readonly line: number
}

/** Text after which a slash is a division; after anything else a slash begins a RegExp. */
const value = /[\w$)\]}]$/
const keywords = /\b(?:return|typeof|case|in|of|yield|await|void|delete|instanceof|new|else|do)$/

/** Returns every RegExp literal of a TypeScript text, except in strings, templates and comments. */
export const regExpLiterals = (text: string): readonly RegExpLiteral[] => {
  const found: RegExpLiteral[] = []
  let behind = ''
  for (let at = 0; at < text.length; ) {
    const end = skipped(text, at)
    if (end > at) {
      if (text[at] !== '/') behind = '0'
      at = end
      continue
    }
    if (text[at] === '/' && (!value.test(behind) || keywords.test(behind))) {
      const [whole, source = '', flags = ''] = literal.exec(text.slice(at, at + maxLength)) ?? []
      if (whole !== undefined) {
        found.push({ source, flags, line: text.slice(0, at).split('\n').length })
        behind = '0'
        at += whole.length
        continue
      }
    }
    if (!/\s/.test(text[at] ?? '')) behind = (behind + text[at]).slice(-12)
    else if (/\w$/.test(behind)) behind = `${behind}\n`.trimEnd()
    at++
  }
  return found
}

const maxLength = 4096
const literal = /^\/((?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+)\/([dgimsuvy]*)/

/**
 * Returns the end of the string, template or comment that begins at `at`; `at` when none does. Code inside `${}` is
 * skipped too.
 */
const skipped = (text: string, at: number): number => {
  if (text.startsWith('//', at)) return endOf(text, '\n', at)
  if (text.startsWith('/*', at)) return endOf(text, '*/', at + 2)
  const quote = text[at]
  if (quote !== "'" && quote !== '"' && quote !== '`') return at
  let end = at + 1
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1
  return end + 1
}

const endOf = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from)
  return found < 0 ? text.length : found + what.length
}
