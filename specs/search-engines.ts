/** A search engine of a third party, as the operator declares it in WEB_SEARCH_ENGINES: a GET that answers JSON. */
export interface SearchEngineSettings {
  /** Name under which requests choose it. */
  readonly name: string
  /** Its address, with `{query}` behind the question mark, and `{limit}` and `{language}` where it takes them. */
  readonly url: string
  /** Headers of each request: they hold its key. */
  readonly headers: Readonly<Record<string, string>>
  readonly paths: ResultPaths
  /** Results that it gives at most. */
  readonly most: number
}

/** Where an answer has its list of results, and a result its fields: names with a dot between each. */
export interface ResultPaths {
  readonly results: string
  readonly title: string
  readonly url: string
  readonly snippet: string
  /** Time of publication, as text that starts with a date by ISO 8601; absent: the engine says none. */
  readonly published?: string
}

/** Answers of engines that are known. */
const shapes: Readonly<Record<string, ResultPaths>> = {
  searxng: { results: 'results', title: 'title', url: 'url', snippet: 'content', published: 'publishedDate' },
  brave: { results: 'web.results', title: 'title', url: 'url', snippet: 'description', published: 'page_age' },
}

const mostEngines = 10
const mostResults = 50
const defaultMost = 20

/** What WEB_SEARCH_ENGINES takes, in words. */
export const searchEnginesTake =
  'a JSON list of {"name", "url" with {query}, "shape" (searxng, brave) or "paths", "headers", "most"}'

/** The engines that a text declares; undefined for one that declares none. */
export const searchEnginesOf = (text: string): readonly SearchEngineSettings[] | undefined => {
  const list = parsed(text)
  if (!Array.isArray(list) || list.length > mostEngines) return undefined
  const engines = list.map(engineOf)
  const known = engines.filter((engine) => engine !== undefined)
  const names = new Set(known.map(({ name }) => name))
  return known.length === list.length && names.size === list.length ? Object.freeze(known) : undefined
}

const engineOf = (value: unknown): SearchEngineSettings | undefined => {
  const { name, url, shape, paths: declared, headers = {}, most = defaultMost, ...unknown } = fieldsOf(value)
  const paths = declared === undefined ? shapes[String(shape)] : pathsOf(declared)
  if (Object.keys(unknown).length > 0 || paths === undefined) return undefined
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,31}$/.test(name)) return undefined
  if (typeof url !== 'string' || !isUrl(url)) return undefined
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1 || most > mostResults) return undefined
  const texts = textsOf(headers)
  if (texts === undefined) return undefined
  return Object.freeze({ name, url, headers: lowerCase(texts), paths, most })
}

const pathsOf = (value: unknown): ResultPaths | undefined => {
  const { results, title, url, snippet, published, ...unknown } = textsOf(value) ?? {}
  if (Object.keys(unknown).length > 0) return undefined
  if (results === undefined || title === undefined || url === undefined || snippet === undefined) return undefined
  return { results, title, url, snippet, ...(published !== undefined && { published }) }
}

const isUrl = (url: string): boolean =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).search.includes('{query}')

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
