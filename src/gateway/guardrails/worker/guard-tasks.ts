import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { RE2JS } from 're2js'
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
const maxErrorChars = 1_000

/** Linear time, unlike patterns of JavaScript: the schema is a caller's. Ajv distinguishes patterns by their text. */
const linear = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern }
  },
  { code: 'new RegExp' },
)

const errorsOf = (schema: Json, text: string): string | null => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'The answer is not JSON.'
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'The schema is not an object.'
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false, code: { regExp: linear } })
  formats.default(ajv)
  const validate = ajv.compile(schema)
  if (validate(value)) return null
  return ajv.errorsText(validate.errors?.slice(0, maxErrors), { dataVar: 'answer' }).slice(0, maxErrorChars)
}

export const guardTasks: GuardTasks = {
  scan: async ({ specs, texts }): Promise<readonly Finding[]> => findingsOf(specs.map(localCheck), texts),
  matches: async ({ schema, text }) => errorsOf(schema, text),
}
