/** One request of a walkthrough page, and what its answer has to be. */
export interface WalkStep {
  /** Repeated until the answer is as expected. */
  readonly until: boolean
  readonly method: string
  readonly path: string
  /** JSON text with names in braces; null for none. */
  readonly body: string | null
  readonly status: number
  /** What the answer has at a place: kept under a name, or equal to a JSON value. */
  readonly said: readonly { readonly at: string; readonly keep?: string; readonly equal?: string }[]
}

/**
 * The ```http blocks of a page: `until` or nothing, a request line, its body; an empty line; the status, and lines
 * `place → {name}` or `place = <JSON>`. @throws {Error} for a block that does not read so.
 */
export const stepsOf = (page: string): readonly WalkStep[] =>
  Array.from(page.matchAll(/^```http\n([\s\S]*?)^```$/gm), (match) => stepOf(match[1] ?? ''))

const stepOf = (block: string): WalkStep => {
  const [asked = '', answered = ''] = block.split('\n\n')
  const lines = asked.split('\n')
  const until = lines[0] === 'until'
  const [request = '', ...body] = until ? lines.slice(1) : lines
  const [, method, path] = /^([A-Z]+) (\/\S+)$/.exec(request) ?? []
  const [status = '', ...said] = answered.trim().split('\n')
  if (method === undefined || path === undefined || !/^\d{3}$/.test(status)) throw new Error(`unreadable:\n${block}`)
  return {
    until,
    method,
    path,
    body: body.join('\n').trim() || null,
    status: Number(status),
    said: said.map(saidOf),
  }
}

const saidOf = (line: string): WalkStep['said'][number] => {
  const [, at = '', keep] = /^(\S+) → \{(\w+)\}$/.exec(line) ?? []
  if (keep !== undefined) return { at, keep }
  const [, place, equal] = /^(\S+) = (.+)$/.exec(line) ?? []
  if (place === undefined || equal === undefined) throw new Error(`unreadable: ${line}`)
  return { at: place, equal }
}

/** The value at a place of a document: names and numbers with dots between, `[name=value]` for the first such of a list. */
export const valueAt = (document: unknown, place: string): unknown => {
  let value = document
  for (const [, name, field, wanted] of place.matchAll(/([^.[\]]+)(?=[.[]|$)|\[([^=\]]+)=([^\]]+)\]/g)) {
    if (name !== undefined) value = Object(value)[name]
    else value = Array.isArray(value) ? value.find((each) => String(each[field ?? '']) === wanted) : undefined
  }
  return value
}

/** Text with the names in braces replaced; one that is not known stays. */
export const filledIn = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => names.get(name) ?? whole)
