import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { RE2JS } from 're2js'
import { isObject } from '#outgoing/wire.ts'
import type { ParserTask } from '#src/parsing/parser-tasks.ts'
import type { Json } from '#storage/index.ts'
import { type LocalSpec, localCheck } from '../local-checks.ts'
import { type Finding, findingsOf } from '../scan.ts'

/** Tasks of the worker that checks long texts, and the structure of answers. */
export interface GuardTasks {
  readonly scan: ParserTask<{ readonly specs: readonly LocalSpec[]; readonly texts: readonly (readonly string[])[] }>
  readonly matches: ParserTask<{ readonly schema: Json; readonly text: string }>
}

const maxErrors = 5

/** Linear time, unlike patterns of JavaScript: the schema is a caller's. Ajv distinguishes patterns by their text. */
const linear = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern }
  },
  { code: 'new RegExp' },
)

/** Each fault as the JSON Pointer of its place, and what is wrong there. The text is JSON. */
const faultsOf = (schema: Json, text: string): readonly (readonly [string, string])[] => {
  const value: unknown = JSON.parse(text)
  // schemas of tools name the draft that they were written for, which the validator does not have; one that is
  // asynchronous would find everything valid, and its faults would end the worker later
  const { $schema: _draft, $async: _later, ...plain } = isObject(schema) ? schema : {}
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false, code: { regExp: linear } })
  formats.default(ajv)
  const validate = ajv.compile(plain)
  if (validate(value)) return []
  return (validate.errors ?? []).slice(0, maxErrors).map((error) => {
    const missing: unknown = error.params.missingProperty
    const field = typeof missing === 'string' ? `/${missing.replaceAll('~', '~0').replaceAll('/', '~1')}` : ''
    return [error.instancePath + field, field === '' ? (error.message ?? 'is invalid') : 'is required']
  })
}

export const guardTasks: GuardTasks = {
  scan: async ({ specs, texts }): Promise<readonly Finding[]> => findingsOf(specs.map(localCheck), texts),
  matches: async ({ schema, text }) => faultsOf(schema, text),
}
