/** A third-party search engine that the operator declares in WEB_SEARCH_ENGINES: a GET that returns JSON. */
export interface SearchEngineSettings {
  /** Name by which requests select it. */
  readonly name: string
  /** URL with `{query}` in its query string, and `{limit}` and `{language}` if the engine supports them. */
  readonly url: string
  /** Headers of every request, which contain its key. */
  readonly headers: Readonly<Record<string, string>>
  readonly paths: ResultPaths
  /** Maximum number of results that it returns. */
  readonly max: number
}

/** Paths of the list of results in a response, and of the fields in a result: names separated by dots. */
export interface ResultPaths {
  readonly results: string
  readonly title: string
  readonly url: string
  readonly snippet: string
  /** Publication time, as text that starts with an ISO 8601 date; absent when the engine does not provide it. */
  readonly published?: string
}

/** Paths in the responses of well-known engines. */
const shapes: Readonly<Record<string, ResultPaths>> = {
  searxng: { results: 'results', title: 'title', url: 'url', snippet: 'content', published: 'publishedDate' },
  brave: { results: 'web.results', title: 'title', url: 'url', snippet: 'description', published: 'page_age' },
}

const maxEngines = 10
const maxResults = 50
const defaultMax = 20

/** Format of WEB_SEARCH_ENGINES, for error messages. */
export const searchEnginesTake =
  'a JSON list of {"name", "url" with {query}, "shape" (searxng, brave) or "paths", "headers", "most"}'

/** Returns the engines that a text declares; undefined for an invalid text. */
export const searchEnginesOf = (text: string): readonly SearchEngineSettings[] | undefined => {
  const list = parsed(text)
  if (!Array.isArray(list) || list.length > maxEngines) return undefined
  const engines = list.map(engineOf)
  const known = engines.filter((engine) => engine !== undefined)
  const names = new Set(known.map(({ name }) => name))
  return known.length === list.length && names.size === list.length ? Object.freeze(known) : undefined
}

const engineOf = (value: unknown): SearchEngineSettings | undefined => {
  const { name, url, shape, paths: declared, headers = {}, max = defaultMax, ...unknown } = fieldsOf(value)
  const paths = declared === undefined ? shapes[String(shape)] : pathsOf(declared)
  if (Object.keys(unknown).length > 0 || paths === undefined) return undefined
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,31}$/.test(name)) return undefined
  if (typeof url !== 'string' || !isUrl(url)) return undefined
  if (typeof max !== 'number' || !Number.isInteger(max) || max < 1 || max > maxResults) return undefined
  const texts = textsOf(headers)
  if (texts === undefined) return undefined
  return Object.freeze({ name, url, headers: lowerCase(texts), paths, max })
}

const pathsOf = (value: unknown): ResultPaths | undefined => {
  const { results, title, url, snippet, published, ...unknown } = textsOf(value) ?? {}
  if (Object.keys(unknown).length > 0) return undefined
  if (results === undefined || title === undefined || url === undefined || snippet === undefined) return undefined
  return { results, title, url, snippet, ...(published !== undefined && { published }) }
}

const isUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.search.includes('{query}')
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

const textsOf = (value: unknown): Readonly<Record<string, string>> | undefined => {
  const entries = Object.entries(fieldsOf(value))
  const texts = entries.flatMap(([name, text]): [string, string][] => (typeof text === 'string' ? [[name, text]] : []))
  return texts.length === entries.length ? Object.fromEntries(texts) : undefined
}

const lowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
