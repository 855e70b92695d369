import { isObject } from '#runtime/index.ts'
import type { ResultPaths } from '#specs/search-engines.ts'
import { pageUrlOf } from '#src/pages/page-url.ts'
import { decodedEntities } from '#src/parsing/pages/entities.ts'
import type { Json } from '#storage/index.ts'

/** A result of a third-party engine. All of it is untrusted text. */
export interface ForeignResult {
  readonly url: string
  readonly title: string
  readonly snippet: string
  /** ms since the epoch; null when the engine does not provide it. */
  readonly publishedAt: number | null
}

const max = { title: 500, snippet: 400 } as const

/** Returns the results of an engine's response; null when it has no list. Results without a page's URL are omitted. */
export const readResults = (answer: Json, paths: ResultPaths): readonly ForeignResult[] | null => {
  const list = at(answer, paths.results)
  if (!Array.isArray(list)) return null
  const seen = new Set<string>()
  return list.flatMap((item): readonly ForeignResult[] => {
    const url = pageUrlOf(textOf(at(item, paths.url)))
    if (typeof url === 'string' || seen.has(url.href)) return []
    seen.add(url.href)
    return [
      {
        url: url.href,
        title: plain(textOf(at(item, paths.title)), max.title),
        snippet: plain(textOf(at(item, paths.snippet)), max.snippet),
        publishedAt: timeOf(textOf(paths.published === undefined ? null : at(item, paths.published))),
      },
    ]
  })
}

const at = (value: Json, path: string): Json =>
  path
    .split('.')
    .reduce<Json>(
      (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? (inner[name] ?? null) : null),
      value,
    )

const textOf = (value: Json): string => (typeof value === 'string' ? value : '')

/** Returns text without markup: engines highlight the words of the query with elements. */
const plain = (text: string, longest: number): string => {
  const words = decodedEntities(text.slice(0, longest * 4).replace(/<\/?[a-z][^<>]{0,200}>/gi, ''))
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed()
  return words.length <= longest
    ? words
    : `${words
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`
}

const timeOf = (text: string): number | null => {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? null : time
}
