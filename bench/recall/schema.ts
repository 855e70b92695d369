type Json = unknown
type Fields = Readonly<Record<string, Json>>

/** What a file of a public set says, read without trust: what is missing is empty. */
export const fields = (value: Json): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const items = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
export const text = (value: Json): string => (typeof value === 'string' ? value : '')
export const number = (value: Json): number => (typeof value === 'number' ? value : 0)
