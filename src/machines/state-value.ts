import type { StateValue } from './definition.ts'

/** Dotted path of the innermost state: `active.working.thinking`. Paths of parallel regions are joined by a space. */
export const leafPath = (value: StateValue): string => leavesOf(value, '')

const leavesOf = (value: StateValue, prefix: string): string => {
  if (typeof value === 'string') return prefix + value
  let paths = ''
  for (const state in value) {
    const inner = value[state]
    const path = inner === undefined ? prefix + state : leavesOf(inner, `${prefix}${state}.`)
    if (path !== '') paths = paths === '' ? path : `${paths} ${path}`
  }
  return paths
}

/** The outermost state. */
export const topState = (value: StateValue): string =>
  typeof value === 'string' ? value : (Object.keys(value)[0] ?? '')
