/** JSON text with the keys of every object in order: equal values have equal texts. */
export const canonical = (value: unknown): string => JSON.stringify(value, sortKeys) ?? 'null'

const sortKeys = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
}
