/** One example of a page with its output. */
export interface PageExample {
  readonly language: 'sh' | 'js' | 'python'
  readonly code: string
  readonly prints: { readonly form: 'json' | 'text'; readonly text: string }
}

const languages: readonly string[] = ['sh', 'js', 'python']

/**
 * The ```sh, ```js and ```python blocks of a page, or those of some of these languages, each with the ```json or ```text block
 * that follows it.
 * @throws {Error} for an example without an output.
 */
export const examplesOf = (page: string, wanted = languages): readonly PageExample[] => {
  const blocks = Array.from(page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ([, info = '', text = '']) => ({
    info,
    text,
  }))
  return blocks.flatMap(({ info, text: code }, place) => {
    if ((info !== 'sh' && info !== 'js' && info !== 'python') || !wanted.includes(info)) return []
    const { info: form, text } = blocks[place + 1] ?? {}
    if ((form !== 'json' && form !== 'text') || text === undefined) throw new Error(`prints nothing:\n${code}`)
    return [{ language: info, code, prints: { form, text } }]
  })
}

const anything = '…'

/**
 * Compares a document with an expected one. Objects may have further fields; lists may have further items only if `…` is
 * at their end; `…` matches any value except null and undefined.
 *
 * @returns the path of the first difference; null for none.
 */
export const differenceOf = (said: unknown, document: unknown, at = '$'): string | null => {
  if (said === anything) return document === undefined || document === null ? at : null
  if (typeof said !== 'object' || said === null) return said === document ? null : at
  if (typeof document !== 'object' || document === null) return at
  const isOpen = !Array.isArray(said) || said.at(-1) === anything
  const places = Object.entries(said).filter(
    ([key]) => !(Array.isArray(said) && isOpen && key === `${said.length - 1}`),
  )
  if (!isOpen && Object.keys(document).length !== places.length) return `${at}.length`
  const fields: Readonly<Record<string, unknown>> = { ...document }
  for (const [key, value] of places) {
    const found = differenceOf(value, fields[key], `${at}.${key}`)
    if (found !== null) return found
  }
  return null
}

/** A pattern for text with these lines in this order and others between them; `…` matches anything within a line. */
export const linesOf = (text: string): RegExp => {
  const lines = text.trim().split('\n')
  const patterns = lines.map((line) => line.split(anything).map(quoted).join('.*'))
  return new RegExp(patterns.join('[\\s\\S]*?'))
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
