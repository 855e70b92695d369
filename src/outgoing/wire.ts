/** A parsed JSON object whose fields are unchecked. */
export type WireObject = { readonly [field: string]: unknown }

/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is WireObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value as an object, or one without fields. */
export const objectOf = (value: unknown): WireObject => (isObject(value) ? value : {})

/** The value as an array, or an empty one. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The value as a string, or ''. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Arguments of a call as JSON text that can be parsed: some models write nothing where a function takes none. */
export const argumentsOf = (written: string): string => (written.trim() === '' ? '{}' : written)

/** The value as a count: a whole number of 0 or more, or 0. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0

/** JSON text parsed, or undefined when it is none. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
