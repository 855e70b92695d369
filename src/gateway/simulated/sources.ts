import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { placesBehind } from './named-places.ts'
import { searchVerbs } from './phrases.ts'

const maxSources = 3
const maxQuoted = 200

/** Name of a tool that searches: `web_search`, `file_search`, `web_search_preview`. */
const searchName = /(?:^|_)search(?:_preview)?$/i

/** Whether a function searches by a query, as those of this server do that have numbered results. */
export const isSearch = ({ name, schema }: { readonly name: string; readonly schema: WireObject }): boolean =>
  searchName.test(name) && isObject(objectOf(schema.properties).query)

/** Whether a text is a question, or requests a search. */
export const wantsSearch = (text: string): boolean =>
  /\?\s*$/.test(text.slice(-maxQuoted)) || searchVerbs.some((verb) => placesBehind(text, verb).next().done !== true)

/**
 * Returns the numbered sources of a tool result, each with its text and its mark: `Cats: They purr. [1]`; null for a
 * result without such sources, which is quoted as it is.
 */
export const citedSources = (content: string): string | null => {
  if (!content.includes('Cite as [n]')) return null
  const found = objectOf(parseJson(content))
  const sources = (Array.isArray(found.results) ? arrayOf(found.results) : [found])
    .map(objectOf)
    .filter((source) => numberOf(source) !== null)
  if (sources.length === 0) return 'Nothing was found.'
  return sources.slice(0, maxSources).map(cited).join(' ')
}

/** Results of the web and of files are numbered as `n`, those of knowledge bases as `number`. */
const numberOf = ({ n, number = n }: WireObject): number | null => (typeof number === 'number' ? number : null)

const cited = (source: WireObject): string => {
  const titles = [source.title, source.file, source.url, objectOf(source.citation).title].map(textOf)
  const name = titles.find((title) => title !== '') ?? ''
  const snippet = textOf(source.snippet) || textOf(source.text) || textOf(source.content)
  const quoted = snippet
    .slice(0, maxQuoted)
    .replace(/\s+/g, ' ')
    .replace(/\[\d+\]/g, '')
    .trim()
  return `${[name, quoted].filter((part) => part !== '').join(': ')} [${numberOf(source)}]`
}
