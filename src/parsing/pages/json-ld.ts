import { isObject } from '#outgoing/wire.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { OpenedTag } from './clean-html.ts'

/** Maximum number of JSON-LD scripts that are read. */
export const maxJsonLd = 20
/** Maximum number of objects of a list, and of all lists of a page. */
const maxObjects = { list: 100, page: 1_000 } as const
/** Maximum number of graphs within each other. */
const maxGraphs = 4
const maxAuthors = 10

/** Returns the JSON-LD objects of a page, including the members of graphs. */
export const jsonLdOf = (metaTags: readonly OpenedTag[]): readonly JsonObject[] =>
  metaTags
    .filter(
      ({ name, attributes: { type = '' } }) => name === 'script' && type.trim().toLowerCase() === 'application/ld+json',
    )
    .slice(0, maxJsonLd)
    .flatMap((script) => objectsIn(parsedJson(script.text())))
    .slice(0, maxObjects.page)

/** Parses JSON; null when it is invalid. */
export const parsedJson = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const objectsIn = (value: Json, graphs = 0): readonly JsonObject[] => {
  if (Array.isArray(value))
    return value.slice(0, maxObjects.list).flatMap((each) => (isRecord(each) ? objectsIn(each, graphs) : []))
  if (!isRecord(value)) return []
  const { '@graph': graph } = value
  return Array.isArray(graph) && graphs < maxGraphs ? objectsIn(graph, graphs + 1) : [value]
}

const isRecord = (value: unknown): value is JsonObject => isObject(value) && !Array.isArray(value)

/** Returns the text in a field of an object; null when it has none. */
export const textIn = (value: JsonObject, field: string): string | null => {
  const found = Object.hasOwn(value, field) ? value[field] : null
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : null
}

/** Returns the object that describes the article of a page; an empty one when there is none. */
export const articleIn = (objects: readonly JsonObject[]): JsonObject =>
  objects.find((each) => textIn(each, 'articleBody') !== null) ??
  objects.find(isArticle) ??
  objects.find((each) => 'datePublished' in each || 'headline' in each) ??
  {}

const isArticle = ({ '@type': type }: JsonObject): boolean =>
  [type].flat().some((each) => typeof each === 'string' && /(?:Article|BlogPosting)$/.test(each))

/** Returns the text of the article; '' when there is none. */
export const articleBodyOf = (objects: readonly JsonObject[]): string => textIn(articleIn(objects), 'articleBody') ?? ''

/** Returns the authors of an article, by name or by reference to another object of the page; null when it has none. */
export const authorIn = ({ author }: JsonObject, objects: readonly JsonObject[]): string | null => {
  const all = Array.isArray(author) ? author.slice(0, maxAuthors) : [author]
  const names = all.flatMap((each) => nameOf(each, objects) ?? [])
  return names.length === 0 ? null : names.join(', ')
}

const nameOf = (author: Json | undefined, objects: readonly JsonObject[]): string | null => {
  if (typeof author === 'string') return author
  if (!isRecord(author)) return null
  const id = textIn(author, '@id')
  const other = id === null ? undefined : objects.find((each) => each !== author && each['@id'] === id)
  return textIn(author, 'name') ?? (other === undefined ? null : textIn(other, 'name'))
}
