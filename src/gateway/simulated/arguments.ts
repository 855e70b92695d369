import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { placesBehind } from './named-places.ts'
import { patternText } from './pattern-text.ts'

const maxDepth = 6
const maxItems = 100
const maxHops = 20
const maxVariants = 100
/** Longest pattern that is read, and longest generated text, in characters. */
const maxPattern = 2_000
const maxText = 2_000
/** Work for the arguments of one call: a unit is a value, a search in the text, or 16 characters that are copied. */
const maxWork = 5_000
const charsAUnit = 16

/**
 * Generates plausible arguments for a JSON Schema object from the text: `name: value` pairs, quoted phrases, numbers,
 * and the words after "in", "for" or "to". Required fields are always filled, others only when the text names them.
 */
export function fillArguments(schema: WireObject, text: string, toolName: string): WireObject {
  return new Filler(schema, text, toolName).object(schema, 0)
}

class Filler {
  readonly #root: WireObject
  readonly #text: string
  readonly #quoted: string[]
  readonly #numbers: number[]
  readonly #phrases: string[]
  readonly #lowerCase: string
  #work = maxWork

  constructor(root: WireObject, text: string, toolName: string) {
    this.#root = root
    this.#text = toolName === '' ? text : text.replaceAll(toolName, ' ')
    this.#lowerCase = this.#text.toLowerCase()
    this.#quoted = [...this.#text.matchAll(/"([^"]{1,200})"|“([^”]{1,200})”/g)].map(
      (found) => found[1] ?? found[2] ?? '',
    )
    this.#numbers = [...this.#text.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w])/g)].map((found) => Number(found[0]))
    this.#phrases = [
      ...this.#text.matchAll(/\b(?:in|for|to|of|about|with|at|on)\s+(?:the\s+)?([^\s,;.!?"][^,;.!?"]*)/gi),
    ]
      .map((found) => (found[1] ?? '').split(/\s(?:and|in|for|to|with|at|on|please)\b/i)[0]?.trim() ?? '')
      .filter((phrase) => phrase !== '' && !/^(?:tool|it|me|please)\b/i.test(phrase))
  }

  object(schema: WireObject, depth: number): WireObject {
    const properties = objectOf(schema.properties)
    const names = Object.keys(properties)
    const required = Array.isArray(schema.required) ? arrayOf(schema.required) : names
    // a sole list property is always filled: without it the call would be empty (instructor's Iterable requires no
    // field)
    const isList = names.length === 1 && textOf(objectOf(properties[names[0] ?? '']).type) === 'array'
    const isRequired = new Set(required)
    const wanted = names.filter(
      (name) => this.#spend(name.length) && (isList || isRequired.has(name) || this.#names(name)),
    )
    return Object.fromEntries(wanted.map((name) => [name, this.#value(objectOf(properties[name]), name, depth + 1)]))
  }

  /** Pays for one piece of work, with the characters that it copies. False: no more work is done for this call. */
  #spend(chars = 0): boolean {
    this.#work -= 1 + Math.floor(chars / charsAUnit)
    return this.#work > 0
  }

  /** A value of the schema itself, which may be long and used many times. */
  #copied(value: unknown): unknown {
    return this.#spend(typeof value === 'object' ? JSON.stringify(value).length : String(value).length) ? value : null
  }

  #value(declared: WireObject, name: string, depth: number): unknown {
    if (!this.#spend()) return null
    const schema = this.#resolve(declared)
    if (schema.const !== undefined) return this.#copied(schema.const)
    if (Array.isArray(schema.enum)) return this.#choice(schema.enum)
    switch (typeOf(schema)) {
      case 'object':
        return depth > maxDepth ? {} : this.object(schema, depth)
      case 'array':
        return depth > maxDepth ? [] : this.#array(schema, name, depth)
      case 'integer':
        return Math.round(this.#number(schema, name))
      case 'number':
        return this.#number(schema, name)
      case 'boolean':
        return this.#boolean(schema, name)
      case 'null':
        return null
      default:
        return this.#string(schema, name)
    }
  }

  #array(schema: WireObject, name: string, depth: number): readonly unknown[] {
    const min = typeof schema.minItems === 'number' ? schema.minItems : 1
    const length = Math.min(Math.max(min, 1), maxItems)
    return Array.from({ length }, () => this.#value(objectOf(schema.items), name, depth + 1))
  }

  /**
   * Follows references, and takes the first variant that is not null. Circular references resolve to an empty schema.
   */
  #resolve(schema: WireObject, hops = 0): WireObject {
    if (hops > maxHops) return {}
    const next = this.#next(schema)
    return next === schema ? schema : this.#resolve(next, hops + 1)
  }

  #next(schema: WireObject): WireObject {
    const ref = textOf(schema.$ref)
    if (ref.startsWith('#/')) {
      let target: unknown = this.#root
      for (const step of ref.slice(2).split('/')) target = objectOf(target)[step]
      return objectOf(target)
    }
    const variants = [schema.anyOf, schema.oneOf, schema.allOf]
      .flatMap((each) => arrayOf(each).slice(0, maxVariants))
      .filter(isObject)
    return variants.find((variant) => variant.type !== 'null') ?? schema
  }

  #choice(options: readonly unknown[]): unknown {
    const isNamed = (option: unknown): boolean =>
      typeof option === 'string' && this.#spend(option.length) && this.#lowerCase.includes(option.toLowerCase())
    return this.#copied(options.find(isNamed) ?? options[0])
  }

  #string(schema: WireObject, name: string): string {
    if (textOf(schema.pattern) !== '') return this.#patterned(textOf(schema.pattern), name)
    const found =
      this.#pair(name) ?? this.#formatted(textOf(schema.format)) ?? this.#quoted.shift() ?? this.#phrases.shift()
    const value = found ?? (textOf(schema.default) || textOf(arrayOf(schema.examples)[0]) || this.#text.trim() || name)
    const max = typeof schema.maxLength === 'number' ? Math.min(schema.maxLength, maxText) : 200
    this.#spend(max)
    return value.slice(0, max)
  }

  /**
   * Returns a value for a string with a pattern: the one given in the text, unchecked, since a caller's pattern is
   * never executed; otherwise one generated from the pattern.
   */
  #patterned(pattern: string, name: string): string {
    return this.#pair(name) ?? patternText(pattern.slice(0, maxPattern))
  }

  #number(schema: WireObject, name: string): number {
    const paired = Number(this.#pair(name) ?? Number.NaN)
    const declared = typeof schema.default === 'number' ? schema.default : undefined
    const found = Number.isFinite(paired) ? paired : (this.#numbers.shift() ?? declared ?? 1)
    return Math.min(maxOf(schema), Math.max(minOf(schema), found))
  }

  #boolean(schema: WireObject, name: string): boolean {
    const paired = this.#pair(name)
    if (paired !== undefined) return /^(?:true|yes|on|1)$/i.test(paired)
    return typeof schema.default === 'boolean' ? schema.default : true
  }

  #formatted(format: string): string | undefined {
    const pattern = formats[format]
    if (pattern === undefined) return undefined
    return pattern.find.exec(this.#text)?.[0] ?? pattern.otherwise
  }

  /**
   * Returns the value in `name: value`, `name=value` or `name is value`; words of a snake_case name may also be
   * separated by spaces.
   */
  #pair(name: string): string | undefined {
    if (!this.#spend(name.length)) return undefined
    for (const end of placesBehind(this.#text, name)) {
      const [, quoted, plain] = given.exec(this.#text.slice(end, end + maxGiven)) ?? []
      if (quoted !== undefined) return quoted
      if (plain !== undefined) return plain.replace(/(?<![.!?])[.!?]+$/, '')
    }
    return undefined
  }

  #names(name: string): boolean {
    return this.#spend(name.length) && placesBehind(this.#text, name).next().done !== true
  }
}

/** Returns the minimum; one above an exclusive minimum, or 0.5 above it when the maximum is closer. */
const minOf = ({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: WireObject): number => {
  if (typeof exclusiveMinimum !== 'number') return typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY
  const above = [maximum, exclusiveMaximum].some((max) => typeof max === 'number' && max <= exclusiveMinimum + 1)
  return exclusiveMinimum + (above ? 0.5 : 1)
}

const maxOf = ({ maximum, exclusiveMaximum, minimum, exclusiveMinimum }: WireObject): number => {
  if (typeof exclusiveMaximum !== 'number') return typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY
  const below = [minimum, exclusiveMinimum].some((min) => typeof min === 'number' && min >= exclusiveMaximum - 1)
  return exclusiveMaximum - (below ? 0.5 : 1)
}

const formats: Readonly<Record<string, { readonly find: RegExp; readonly otherwise: string }>> = {
  email: { find: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{1,255}\w/, otherwise: 'someone@example.com' },
  uri: { find: /https?:\/\/\S+/, otherwise: 'https://example.com/' },
  url: { find: /https?:\/\/\S+/, otherwise: 'https://example.com/' },
  date: { find: /\d{4}-\d{2}-\d{2}/, otherwise: '2030-01-01' },
  'date-time': { find: /\d{4}-\d{2}-\d{2}T\S+/, otherwise: '2030-01-01T00:00:00Z' },
  time: { find: /\d{2}:\d{2}(?::\d{2})?/, otherwise: '12:00:00' },
  uuid: { find: /[0-9a-f]{8}-[0-9a-f-]{27}/i, otherwise: '00000000-0000-4000-8000-000000000000' },
}

function typeOf(schema: WireObject): string {
  if (Array.isArray(schema.type)) return textOf(schema.type.find((type) => type !== 'null'))
  if (schema.type === undefined && isObject(schema.properties)) return 'object'
  return textOf(schema.type)
}

/** How far after a name its value may be, in UTF-16 units. */
const maxGiven = 1024

/** Matches the value after a name. */
const given = /^\s{0,8}(?:[:=]|\bis\b)\s{0,8}(?:"([^"]+)"|([^\s,;]+))/i
