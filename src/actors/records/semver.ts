interface Parsed {
  readonly release: readonly number[]
  readonly pre: readonly string[]
}

const parse = (version: string): Parsed => {
  const [core = ''] = version.split('+', 1)
  const dash = core.indexOf('-')
  const release = dash < 0 ? core : core.slice(0, dash)
  return { release: release.split('.').map(Number), pre: dash < 0 ? [] : core.slice(dash + 1).split('.') }
}

const isNumber = (part: string): boolean => /^\d+$/.test(part)

const comparePart = (a: string, b: string): number => {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b)
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

const comparePre = (a: readonly string[], b: readonly string[]): number => {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [one, other] = [a[at], b[at]]
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1
    const difference = comparePart(one, other)
    if (difference !== 0) return difference
  }
  return 0
}

/** Whether `a` comes before (< 0) or after (> 0) `b` by the precedence of Semantic Versioning 2.0, clause 11. */
export const compareVersions = (a: string, b: string): number => {
  const [one, other] = [parse(a), parse(b)]
  for (let at = 0; at < 3; at++) {
    const difference = (one.release[at] ?? 0) - (other.release[at] ?? 0)
    if (difference !== 0) return difference
  }
  return comparePre(one.pre, other.pre)
}

const isPrerelease = (version: string): boolean => parse(version).pre.length > 0

/**
 * Returns the version of highest precedence, a prerelease only when there is nothing else; undefined for an empty list.
 */
export const newestOf = (versions: readonly string[]): string | undefined => {
  const releases = versions.filter((version) => !isPrerelease(version))
  return (releases.length > 0 ? releases : versions).toSorted(compareVersions).at(-1)
}
