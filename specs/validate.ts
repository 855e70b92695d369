import { answerForm, compile, type ErrorObject, requestForm, type Validate } from './ajv.ts'
import type { Operation } from './declare.ts'
import { ServiceError } from './errors.ts'
import { type QueryParser, queryParser } from './query.ts'
import { type JsonSchema, object } from './schema.ts'

/** What a request of one operation is checked with. Compiled once; both throw `ServiceError`. */
export interface RequestValidator {
  /**
   * Checks a parsed body in place: defaults are filled in, clamped numbers are moved.
   *
   * @throws {ServiceError} `missing_field`, `unknown_field` or `invalid_field` with the field's path in `param`.
   */
  body(value: unknown): void
  /** The declared parameters of a query string. @throws {ServiceError} `invalid_query` with the name in `param`. */
  query(text: string): unknown
}

/**
 * A validator of an operation's requests. Schemas are compiled when they are first asked: all of them at once would take a
 * quarter of a start. @throws (at the first request) when a declaration is not sound, which the contract's test holds.
 */
export const requestValidator = (operation: Operation): RequestValidator => {
  const { body } = operation
  const form = body === null ? () => null : once(() => compile(requestForm(body.json, operation.unknownFields)))
  return { body: (value) => checkBody(form(), value), query: queryOf(operation) }
}

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Checks a document against the declared JSON answer; what is wrong as a sentence, or null. For tests. */
export const answerChecker = (schema: JsonSchema): ((value: unknown) => string | null) => {
  const validate = compile(answerForm(schema))
  return (value) => (validate(value) ? null : `${validate.errors?.[0]?.instancePath} ${validate.errors?.[0]?.message}`)
}

function checkBody(validate: Validate | null, value: unknown): void {
  if (validate === null || validate(value)) return
  throw refusal(worst(validate.errors ?? []))
}

const nothing = Object.freeze({})

function queryOf(operation: Operation): RequestValidator['query'] {
  if (Object.keys(operation.query).length === 0) return () => nothing
  const parse: QueryParser = queryParser(operation.query)
  const form = once(() => compile(object(operation.query).json))
  return (text) => {
    const query = parse(text)
    const validate = form()
    if (!validate(query)) throw queryRefusal(worst(validate.errors ?? []))
    return query
  }
}

/** Of the errors of several branches the one that got furthest into the value; else the one about all branches. */
const worst = (errors: readonly ErrorObject[]): ErrorObject | undefined => {
  const depth = (error: ErrorObject) => error.instancePath.split('/').length
  return errors.reduce<ErrorObject | undefined>(
    (found, error) => (found === undefined || depth(error) >= depth(found) ? error : found),
    undefined,
  )
}

function refusal(error: ErrorObject | undefined): ServiceError {
  if (error === undefined) return new ServiceError('invalid_field')
  const { keyword, instancePath, params } = error
  if (keyword === 'required') return named('missing_field', pathOf(instancePath, params.missingProperty))
  if (keyword === 'additionalProperties') return named('unknown_field', pathOf(instancePath, params.additionalProperty))
  if (keyword === 'discriminator') return wrongTag(error)
  const param = pathOf(instancePath)
  if (param === '') return new ServiceError('invalid_field', { message: 'The body must be a JSON object.' })
  return new ServiceError('invalid_field', { param, message: `${param} ${rule(error)}.` })
}

/** The field that says which branch is meant is missing or names none. */
const wrongTag = ({ instancePath, params }: ErrorObject): ServiceError =>
  named(params.tagValue === undefined ? 'missing_field' : 'invalid_field', pathOf(instancePath, params.tag))

const named = (code: 'missing_field' | 'unknown_field' | 'invalid_field', param: string): ServiceError =>
  new ServiceError(code, { param })

function queryRefusal(error: ErrorObject | undefined): ServiceError {
  if (error === undefined) return new ServiceError('invalid_query')
  const missing = error.keyword === 'required' ? error.params.missingProperty : undefined
  // of a list the parameter, not the item: a query shows no positions
  const param = pathOf(error.instancePath.split('/').slice(0, 2).join('/'), missing)
  return new ServiceError('invalid_query', { param, message: `${param} ${rule(error)}.` })
}

const rule = ({ keyword, params, message }: ErrorObject): string =>
  keyword === 'enum' ? `must be one of ${JSON.stringify(params.allowedValues)}` : (message ?? 'is not valid')

/** `/tools/0/function` and `name` give `tools[0].function.name`. */
const pathOf = (instancePath: string, last?: unknown): string => {
  const parts = instancePath.split('/').slice(1)
  if (typeof last === 'string') parts.push(last)
  return parts.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, plain(part))), '')
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

const plain = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')
