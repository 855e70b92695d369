import type { Found, LocalCheck } from './local-checks.ts'

/** What a check found in one of the texts that it was given. */
export type Finding = {
  /** Indexes of the check and of its text. */
  readonly check: number
  readonly text: number
  readonly found: readonly Found[]
}

/** Makes checks; each of its own texts. */
export const findingsOf = (checks: readonly LocalCheck[], texts: readonly (readonly string[])[]): readonly Finding[] =>
  checks.flatMap((check, at) =>
    (texts[at] ?? []).flatMap((each, text): readonly Finding[] => {
      const found = each === '' ? [] : check.find(each)
      return found.length === 0 ? [] : [{ check: at, text, found }]
    }),
  )

/** Units of 25 ns for which a scan may keep the event loop; one that takes longer is made in a worker. */
const maxCost = 600_000

/** Whether checks of these texts may run on the event loop. */
export const isShort = (checks: readonly LocalCheck[], texts: readonly (readonly string[])[]): boolean => {
  let cost = 0
  for (const [at, check] of checks.entries()) for (const text of texts[at] ?? []) cost += check.cost * text.length
  return cost <= maxCost
}

/** Replaces what was found; of places that overlap, the first names the whole. */
export const replaced = (text: string, found: readonly Found[]): string => {
  let made = ''
  let from = 0
  for (const { start, end, label } of merged(found)) {
    made += text.slice(from, start) + label
    from = end
  }
  return made + text.slice(from)
}

/** Places in order, without overlaps. */
const merged = (found: readonly Found[]): readonly Found[] => {
  const places: Found[] = []
  for (const each of [...found].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = places.at(-1)
    if (last === undefined || each.start >= last.end) places.push(each)
    else places[places.length - 1] = { ...last, end: Math.max(last.end, each.end) }
  }
  return places
}
