import { Ajv2020 as Ajv, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { isObject } from '#outgoing/wire.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { type Candidate, type DataSource, dataSources, fieldsOf, type PageCandidates } from './candidates.ts'
import { type DataSchema, scalarFor, typesOf } from './coerce.ts'
import { namesFor } from './names.ts'

/** Source of a value in `data`. Offsets refer to the page's text; null when the text does not contain it. */
type DataEvidence = {
  /** JSON Pointer of the value. */
  readonly path: string
  readonly source: DataSource
  /** Text as written in the page. */
  readonly text: string
  readonly start: number | null
  readonly end: number | null
}

/** Data extracted from a page by a schema. */
export type PageData = {
  /** The values that were found and are valid. */
  readonly value: JsonObject
  readonly evidence: readonly DataEvidence[]
  /** Required values that the page does not contain, and values dropped as invalid. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** The schema is invalid. */
export class SchemaFault extends Error {
  override readonly name = 'SchemaFault'
}

const max = { items: 500, text: 300, errors: 50, depth: 6 } as const
const maxRounds = 5

/**
 * Extracts the properties of a schema from a page by rules. Each property is searched by its name, its title and
 * synonyms, in structured data first. Every value has evidence. The result is valid except for what `errors` lists.
 *
 * @throws {SchemaFault}
 */
export const pageDataOf = (schema: DataSchema, candidates: PageCandidates, content: string): PageData => {
  const validate = compiled(schema)
  const search = new DataSearch(candidates, content)
  const found = search.object(schema, '', 0)
  const value = found ?? {}
  const evidence = [...search.evidence]
  const errors = dropInvalid(value, evidence, validate)
  return { value, evidence, errors: errors.slice(0, max.errors) }
}

const compiled = (schema: DataSchema): ValidateFunction => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
  formats.default(ajv)
  try {
    return ajv.compile(schema)
  } catch (error) {
    throw new SchemaFault(error instanceof Error ? error.message : 'the schema is none')
  }
}

type Found = { readonly path: string; readonly message: string }

/** Removes invalid values with their evidence, so that the rest is valid except for missing values. */
const dropInvalid = (value: JsonObject, evidence: DataEvidence[], validate: ValidateFunction): readonly Found[] => {
  const dropped: Found[] = []
  for (let round = 0; round < maxRounds && !validate(value); round += 1) {
    const errors = validate.errors ?? []
    const wrong = new Map(
      errors.filter(({ keyword }) => keyword !== 'required').map((each) => [each.instancePath, each]),
    )
    if (wrong.size === 0) return [...dropped, ...errors.map(missing)]
    // last items of a list first, so that earlier ones keep their indices
    for (const [path, { message = 'is not valid' }] of [...wrong].toReversed()) {
      dropped.push({ path, message })
      dropAt(value, path.split('/').slice(1).map(unescaped))
      forget(evidence, path)
    }
  }
  return dropped
}

/** Removes the evidence of a dropped value, and shifts the paths of later items in the same list. */
const forget = (evidence: DataEvidence[], dropped: string): void => {
  const list = dropped.slice(0, dropped.lastIndexOf('/') + 1)
  const place = Number(dropped.slice(list.length))
  const kept = evidence.flatMap((each) => {
    if (each.path === dropped || each.path.startsWith(`${dropped}/`)) return []
    const [index = '', ...rest] = each.path.startsWith(list) ? each.path.slice(list.length).split('/') : []
    const moves = /^\d+$/.test(index) && Number(index) > place
    return [moves ? { ...each, path: [`${list}${Number(index) - 1}`, ...rest].join('/') } : each]
  })
  evidence.splice(0, evidence.length, ...kept)
}

const missing = ({ instancePath, params }: ErrorObject): Found => ({
  path: `${instancePath}/${escaped(String(params.missingProperty))}`,
  message: 'The page does not contain it.',
})

const dropAt = (value: Json, [key, ...rest]: readonly string[]): void => {
  if (key === undefined || typeof value !== 'object' || value === null) return
  if (rest.length > 0) dropAt(Object(value)[key] ?? null, rest)
  else if (Array.isArray(value)) value.splice(Number(key), 1)
  else Reflect.deleteProperty(value, key)
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')

class DataSearch {
  readonly evidence: DataEvidence[] = []
  readonly #candidates: PageCandidates
  readonly #content: string
  readonly #byName = new Map<string, Candidate[]>()

  constructor(candidates: PageCandidates, content: string) {
    this.#candidates = candidates
    this.#content = content
    for (const candidate of candidates.named) {
      const known = this.#byName.get(candidate.name)
      if (known === undefined) this.#byName.set(candidate.name, [candidate])
      else known.push(candidate)
    }
    for (const [name, each] of this.#byName)
      this.#byName.set(
        name,
        each.toSorted((a, b) => dataSources.indexOf(a.source) - dataSources.indexOf(b.source)),
      )
  }

  /** @param path JSON Pointer of the object. */
  object({ properties }: DataSchema, path: string, depth: number): Record<string, Json> | undefined {
    if (!isObject(properties) || depth > max.depth) return undefined
    const entries = Object.entries(properties).flatMap(([name, schema]) => {
      const value = isObject(schema)
        ? this.#property(name, schema, { path: `${path}/${escaped(name)}`, depth })
        : undefined
      return value === undefined ? [] : [[name, value] as const]
    })
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  }

  #property(name: string, schema: DataSchema, at: { readonly path: string; readonly depth: number }): Json | undefined {
    const types = typesOf(schema)
    const title = typeof schema.title === 'string' ? schema.title : null
    const found = namesFor(name, title).flatMap((each) => this.#byName.get(each) ?? [])
    if (types.includes('object')) return this.#nested(schema, found, at)
    if (types.includes('array')) return this.#list(schema, found, at)
    for (const candidate of found) {
      const raw = firstOf(candidate.value)
      const value = scalarFor(schema, raw)
      if (value === undefined) continue
      this.#note(at.path, candidate.source, String(raw))
      return value
    }
    return undefined
  }

  /**
   * Reads an object of structured data under the property's name; otherwise searches its properties in the whole page.
   */
  #nested(
    schema: DataSchema,
    found: readonly Candidate[],
    { path, depth }: { readonly path: string; readonly depth: number },
  ): Json | undefined {
    for (const { value } of found) {
      const [object] = objectsIn(value)
      const read = object === undefined ? undefined : this.#within(object, schema, { path, depth })
      if (read !== undefined) return read
    }
    return this.object(schema, path, depth + 1)
  }

  #within(
    object: JsonObject,
    schema: DataSchema,
    { path, depth }: { readonly path: string; readonly depth: number },
  ): Json | undefined {
    const inner = new DataSearch({ named: fieldsOf(object), tables: [] }, this.#content)
    const read = inner.object(schema, path, depth + 1)
    if (read !== undefined) this.evidence.push(...inner.evidence)
    return read
  }

  #list(
    schema: DataSchema,
    found: readonly Candidate[],
    at: { readonly path: string; readonly depth: number },
  ): Json | undefined {
    const items = isObject(schema.items) ? schema.items : {}
    if (typesOf(items).includes('object')) return this.#objects(items, found, at)
    for (const { value, source } of found) {
      const raws = Array.isArray(value) ? value : typeof value === 'string' ? listedIn(value) : [value]
      const values = raws.slice(0, max.items).flatMap((raw) => {
        const item = scalarFor(items, typeof raw === 'object' ? nameOf(raw) : raw)
        return item === undefined ? [] : [{ item, raw: typeof raw === 'object' ? nameOf(raw) : raw }]
      })
      if (values.length === 0) continue
      for (const [index, { raw }] of values.entries()) this.#note(`${at.path}/${index}`, source, String(raw))
      return values.map(({ item }) => item)
    }
    return undefined
  }

  /**
   * Reads objects of structured data under the property's name; otherwise rows of the table with the most matching
   * columns.
   */
  #objects(
    items: DataSchema,
    found: readonly Candidate[],
    { path, depth }: { readonly path: string; readonly depth: number },
  ): Json | undefined {
    for (const { value } of found) {
      const read = objectsIn(value)
        .slice(0, max.items)
        .flatMap((object, index) => {
          const item = this.#within(object, items, { path: `${path}/${index}`, depth })
          return item === undefined || !hasRequired(items, item) ? [] : [item]
        })
      if (read.length > 0) return read
    }
    return this.#rows(items, path)
  }

  #rows(items: DataSchema, path: string): Json | undefined {
    const { properties } = items
    const wanted = isObject(properties) ? Object.entries(properties) : []
    const placed = this.#candidates.tables.map((table) => {
      const columns = wanted.flatMap(([name, schema]) => {
        const title = isObject(schema) && typeof schema.title === 'string' ? schema.title : null
        const names = namesFor(name, title)
        const column = table.columns.findIndex((each) => names.includes(each))
        return column === -1 || !isObject(schema) ? [] : [{ name, schema, column }]
      })
      return { table, columns }
    })
    const [best] = placed.toSorted((a, b) => b.columns.length - a.columns.length)
    if (best === undefined || best.columns.length < Math.max(1, wanted.length / 2)) return undefined
    const rows = best.table.rows.slice(0, max.items).flatMap((cells) => {
      const values = best.columns.flatMap(({ name, schema, column }) => {
        const raw = cells[column] ?? ''
        const value = scalarFor(schema, raw)
        return value === undefined ? [] : [{ name, value, raw }]
      })
      const isWhole = hasRequired(items, Object.fromEntries(values.map(({ name, value }) => [name, value])))
      return values.length === 0 || !isWhole ? [] : [values]
    })
    for (const [index, values] of rows.entries())
      for (const { name, raw } of values) this.#note(`${path}/${index}/${escaped(name)}`, 'table', raw)
    return rows.length === 0
      ? undefined
      : rows.map((values) => Object.fromEntries(values.map(({ name, value }) => [name, value])))
  }

  #note(path: string, source: DataSource, raw: string): void {
    const text = raw.replace(/\s+/g, ' ').trim().slice(0, max.text).toWellFormed()
    const start = text === '' ? -1 : this.#content.indexOf(text)
    this.evidence.push({
      path,
      source,
      text,
      ...(start === -1 ? { start: null, end: null } : { start, end: start + text.length }),
    })
  }
}

const hasRequired = ({ required }: DataSchema, item: Json): boolean =>
  !Array.isArray(required) || (isObject(item) && required.every((name) => String(name) in item))

const objectsIn = (value: Json): readonly JsonObject[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) => (isRecord(each) ? [elementOf(each)] : []))

/** Unwraps the list elements of schema.org, which contain the object as `item`. */
const elementOf = ({ item, ...object }: JsonObject): JsonObject => (isRecord(item) ? item : { item, ...object })

const isRecord = (value: Json | undefined): value is JsonObject => isObject(value) && !Array.isArray(value)

const nameOf = (value: Json): Json => (isObject(value) && typeof value.name === 'string' ? value.name : null)

const firstOf = (value: Json): Json => {
  const [first = null] = Array.isArray(value) ? value : [value]
  return typeof first === 'object' ? nameOf(first) : first
}

/** Splits a written list into items. */
const listedIn = (text: string): readonly string[] => text.split(/[,;|•]/).map((each) => each.trim())
