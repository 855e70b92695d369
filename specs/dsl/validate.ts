import { type ErrorCode, ServiceError } from '../errors/errors.ts'
import { answerForm, compile, type ErrorObject, requestForm, type Validate } from './ajv.ts'
import { eventsOf } from './answer.ts'
import type { Operation } from './declare.ts'
import { type QueryParser, queryParser } from './query.ts'
import { formatWords, patternWords } from './rule-words.ts'
import { type JsonSchema, object, type Schema } from './schema.ts'

/** Validator of an operation's requests. */
export interface RequestValidator {
  /**
   * Validates a parsed body in place: defaults are filled in, and clamped numbers are adjusted.
   *
   * @throws {ServiceError} `missing_field`, `unknown_field`, `invalid_field` or the operation's own code (`refusals`), with the
   * field's path in `param`.
   */
  body(value: unknown): void
  /** Parses and validates a query string. @throws {ServiceError} `invalid_query` with the name in `param`. */
  query(text: string): unknown
}

/**
 * Returns the validator of an operation's requests. Each schema is compiled at its first use: compiling all of them
 * would take a quarter of the startup time.
 *
 * @throws (at the first request) for an invalid declaration, which the contract test excludes.
 */
export const requestValidator = (operation: Operation): RequestValidator => {
  const { body } = operation
  const form = body === null ? () => null : once(() => compile(requestForm(body.json, operation.unknownFields)))
  return { body: (value) => checkBody(operation, form(), value), query: queryOf(operation) }
}

/**
 * Returns a function that validates a value in place by a schema whose objects may have other fields.
 *
 * @throws {ServiceError} as `RequestValidator.body` does
 */
export const valueValidator = ({ json }: Schema<unknown>): ((value: unknown) => void) => {
  const form = once(() => compile(requestForm(json, 'ignore')))
  return (value) => {
    const validate = form()
    if (!validate(value)) throw refusal(validate.errors ?? [])
  }
}

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Returns a function that checks a document against the declared JSON response.
 *
 * @returns the first error as a sentence, or null. For tests.
 */
export const answerChecker = (schema: JsonSchema): ((value: unknown) => string | null) => {
  const validate = compile(answerForm(schema))
  return (value) => (validate(value) ? null : `${validate.errors?.[0]?.instancePath} ${validate.errors?.[0]?.message}`)
}

function checkBody(operation: Operation, validate: Validate | null, value: unknown): void {
  if (validate === null || validate(value)) return
  throw ownRefusal(operation, refusal(validate.errors ?? []))
}

/** The code with which an operation refuses a value at this path (`actions[0].type`): `invalid_field` unless declared. */
export const refusalCode = ({ refusals }: Pick<Operation, 'refusals'>, param: string): ErrorCode => {
  const place = param.replaceAll(/\[\d+\]/g, '[]')
  const within = ([declared]: readonly [string, ErrorCode]): boolean =>
    place === declared || ['.', '['].some((next) => place.startsWith(declared + next))
  return Object.entries(refusals).find(within)?.[1] ?? 'invalid_field'
}

const ownRefusal = (operation: Operation, error: ServiceError): ServiceError => {
  const { param, message } = error.details
  if (error.code !== 'invalid_field' || typeof param !== 'string') return error
  const code = refusalCode(operation, param)
  return code === error.code ? error : new ServiceError(code, { param, ...(message !== undefined && { message }) })
}

const nothing = Object.freeze({})

function queryOf(operation: Operation): RequestValidator['query'] {
  const parse: QueryParser = queryParser(operation.query, othersOf(operation))
  if (Object.keys(operation.query).length === 0) return (text) => (text === '' ? nothing : parse(text))
  const form = once(() => compile(requestForm(object(operation.query).json, 'ignore')))
  return (text) => {
    const query = parse(text)
    const validate = form()
    if (!validate(query)) throw queryRefusal(validate.errors ?? [])
    return query
  }
}

/**
 * Returns the undeclared parameters that are accepted: those of other APIs' clients, and the token of a browser that
 * cannot send headers; null for all.
 */
const othersOf = ({ unknownFields, passedOver, answer }: Operation): readonly string[] | null => {
  if (unknownFields === 'ignore') return null
  return eventsOf(answer)?.resumable ? [...passedOver, 'token'] : passedOver
}

/**
 * Returns the error deepest in the value: with several branches, it belongs to the one that was meant. Of branches that
 * fail equally deep, it names a field rather than all of them: one that no branch has, before one that is missing.
 */
const worst = (errors: readonly ErrorObject[]): ErrorObject | undefined => {
  const depth = (error: ErrorObject) => error.instancePath.split('/').length
  const deepest = Math.max(...errors.map(depth))
  const failed = errors.filter((error) => depth(error) === deepest)
  const last = failed.at(-1)
  if (last?.keyword !== 'anyOf') return last
  const naming = (keyword: string) => failed.find((error) => error.keyword === keyword)
  return naming('additionalProperties') ?? naming('required') ?? last
}

function refusal(errors: readonly ErrorObject[]): ServiceError {
  const error = worst(errors)
  if (error === undefined) return new ServiceError('invalid_field')
  const { keyword, instancePath, params } = error
  if (keyword === 'required') return named('missing_field', pathOf(instancePath, params.missingProperty))
  if (keyword === 'additionalProperties') return unknownField(error)
  if (keyword === 'discriminator') return wrongTag(error)
  const param = pathOf(instancePath)
  if (param === '') return new ServiceError('invalid_field', { message: 'The body must be a JSON object.' })
  return new ServiceError('invalid_field', { param, message: `${param} ${formsOf(error, errors) ?? rule(error)}.` })
}

/** Returns the error for a discriminator that is missing or matches no branch. */
const wrongTag = ({ instancePath, params }: ErrorObject): ServiceError =>
  named(params.tagValue === undefined ? 'missing_field' : 'invalid_field', pathOf(instancePath, params.tag))

/** The fields are listed unless they are so many that the list would hide the name. */
function unknownField({ instancePath, params, parentSchema }: ErrorObject): ServiceError {
  const error = named('unknown_field', pathOf(instancePath, params.additionalProperty))
  const fields = Object.keys(parentSchema?.properties ?? {})
  if (fields.length === 0 || fields.length > maxListed) return error
  const message = `${error.message} The fields are ${fields.join(', ')}.`
  return new ServiceError('unknown_field', { ...error.details, message })
}

const maxListed = 40

const named = (code: 'missing_field' | 'unknown_field' | 'invalid_field', param: string): ServiceError =>
  new ServiceError(code, { param })

function queryRefusal(errors: readonly ErrorObject[]): ServiceError {
  const error = worst(errors)
  if (error === undefined) return new ServiceError('invalid_query')
  const missing = error.keyword === 'required' ? error.params.missingProperty : undefined
  // the parameter without the index of an item, which a query does not show
  const param = pathOf(error.instancePath.split('/').slice(0, 2).join('/'), missing)
  return new ServiceError('invalid_query', { param, message: `${param} ${formsOf(error, errors) ?? rule(error)}.` })
}

/** Returns the rules of all branches, if the value meets none of them. */
const formsOf = ({ keyword, instancePath }: ErrorObject, errors: readonly ErrorObject[]): string | undefined => {
  if (keyword !== 'anyOf') return undefined
  const branches = errors.filter((each) => each.keyword !== 'anyOf' && each.instancePath === instancePath)
  return [...new Set(branches.map(rule))].join(' or ').replaceAll(' or must be ', ' or ')
}

/** Returns the violated rule in words. */
const rule = ({ keyword, params, message, parentSchema }: ErrorObject): string => {
  switch (keyword) {
    case 'enum':
      return `must be one of ${params.allowedValues.map(String).join(', ')}`
    case 'const':
      return `must be ${params.allowedValue}`
    case 'type':
      return `must be ${[params.type]
        .flat()
        .map((type) => kindOf(type, parentSchema?.required))
        .join(' or ')}`
    case 'pattern':
      return `must be ${patternWords[params.pattern] ?? `text that matches ${params.pattern}`}`
    case 'format':
      return `must be ${formatWords[params.format] ?? `a ${params.format}`}`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'x-max-bytes':
      return `must have at most ${params.limit} bytes as JSON`
    default:
      return sizeRule(keyword, params.limit) ?? message ?? 'is not valid'
  }
}

/** Returns a rule about the number of characters, items or fields. */
const sizeRule = (keyword: string, limit: unknown): string | undefined => {
  const [, bound, what = ''] = /^(min|max)(Length|Items|Properties)$/.exec(keyword) ?? []
  if (bound === undefined) return undefined
  if (bound === 'min' && limit === 1) return 'must not be empty'
  const one = { Length: 'character', Items: 'item', Properties: 'field' }[what] ?? what
  return `must have at ${bound === 'min' ? 'least' : 'most'} ${limit} ${one}${limit === 1 ? '' : 's'}`
}

const kindOf = (type: unknown, required: readonly string[] = []): string => {
  if (type === 'object') return `a JSON object${required.length === 0 ? '' : ` with ${required.join(', ')}`}`
  if (type === 'null') return 'null'
  return `${type === 'array' || type === 'integer' ? 'an' : 'a'} ${type}`
}

/** Returns the path of a field: `/tools/0/function` and `name` give `tools[0].function.name`. */
const pathOf = (instancePath: string, last?: unknown): string => {
  const parts = instancePath.split('/').slice(1)
  if (typeof last === 'string') parts.push(last)
  return parts.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, plain(part))), '')
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

const plain = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')
