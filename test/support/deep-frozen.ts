/** Deep-freezes a value, so that a mutation of it throws. Only plain data is frozen, so machine snapshots are accepted. */
export const deepFrozen = <T>(value: T): T => {
  if (!isPlain(value) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFrozen(inner)
  return value
}

const isPlain = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
