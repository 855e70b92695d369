/** Rules of a robots.txt file for one crawler (RFC 9309). */
export interface RobotsRules {
  /** Whether a URL of the site may be read. */
  allows(url: URL): boolean
  /** Addresses of sitemaps as the file has them. */
  readonly sitemaps: readonly string[]
  /** ms that the site wants between two pages (`Crawl-delay`, which is no part of RFC 9309); at most `maxDelayMs`. */
  readonly delayMs: number
}

interface Rule {
  readonly pattern: string
  readonly allows: boolean
}

/** A site that wants more time between two pages is given this much, in ms. */
export const maxDelayMs = 10_000

/** Bytes of the file that count (RFC 9309, section 2.5). */
export const maxRobotsBytes = 500 * 1024

/** Rules that are kept of a group. */
const maxRules = 10_000
/** Addresses of sitemaps that are kept. */
const maxSitemaps = 100
/** Steps of comparing one address with the patterns: some 20 ms. An address of usual length takes less with any file. */
const maxSteps = 16_000_000

/** A site without rules. */
export const allowsAll: RobotsRules = { allows: () => true, sitemaps: [], delayMs: 0 }

/** A site whose rules cannot be read for a failure of its server: nothing may be read (RFC 9309, section 2.3.1.4). */
export const allowsNone: RobotsRules = {
  allows: ({ pathname }) => pathname === '/robots.txt',
  sitemaps: [],
  delayMs: 0,
}

/**
 * The rules of the groups that name the crawler, or else of those for `*`.
 *
 * @param crawler its product token, such as `TroupeBot`.
 */
export const robotsOf = (text: string, crawler: string): RobotsRules => {
  const token = crawler.toLowerCase()
  // groups of other crawlers are not kept: a file may name thousands, and thousands of rules for each
  const groups = new Map<string, Rule[]>()
  const delays = new Map<string, number>()
  const sitemaps: string[] = []
  let agents = new Set<string>()
  let isHead = false
  for (const { field, value } of linesOf(text)) {
    if (field === 'user-agent') {
      if (!isHead) agents = new Set()
      isHead = true
      const agent = tokenOf(value)
      if (agent !== token && agent !== '*') continue
      agents.add(agent)
      if (!groups.has(agent)) groups.set(agent, [])
    } else if (field === 'allow' || field === 'disallow') {
      isHead = false
      if (value !== '') for (const agent of agents) addRule(groups.get(agent), value, field === 'allow')
    } else if (field === 'crawl-delay') {
      for (const agent of agents) if (!delays.has(agent)) delays.set(agent, delayOf(value))
    } else if (field === 'sitemap' && value !== '' && sitemaps.length < maxSitemaps) sitemaps.push(value)
  }
  const group = groups.has(token) ? token : '*'
  const rules = groups.get(group) ?? []
  return { allows: (url) => isAllowed(rules, url), sitemaps, delayMs: delays.get(group) ?? 0 }
}

/** Seconds, also parts of one. */
const delayOf = (value: string): number =>
  /^\d{1,6}(?:\.\d{1,6})?$/.test(value) ? Math.min(maxDelayMs, Number(value) * 1000) : 0

const addRule = (rules: Rule[] | undefined, value: string, allows: boolean): void => {
  if (rules === undefined || rules.length >= maxRules) return
  rules.push({ pattern: normalPath(value), allows })
}

/** Lines with a field. Other fields neither end a group nor begin one. */
function* linesOf(text: string): Generator<{ readonly field: string; readonly value: string }> {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    const [said = ''] = line.split('#', 1)
    const colon = said.indexOf(':')
    if (colon === -1) continue
    yield { field: said.slice(0, colon).trim().toLowerCase(), value: said.slice(colon + 1).trim() }
  }
}

/** A product token is letters, `_` and `-`; what comes after it, such as a version, is none of it. */
const tokenOf = (value: string): string => {
  if (value === '*' || value.startsWith('* ')) return '*'
  return /^[a-z_-]+/i.exec(value)?.[0].toLowerCase() ?? value.toLowerCase()
}

/** The longest pattern decides; of equal ones, the one that allows. What takes too long to compare is not allowed. */
const isAllowed = (rules: readonly Rule[], url: URL): boolean => {
  if (url.pathname === '/robots.txt') return true
  const path = normalPath(url.pathname + url.search)
  let best: Rule | undefined
  let steps = 0
  for (const rule of rules) {
    if (!beginsLike(rule.pattern, path)) continue
    steps += rule.pattern.length * path.length
    if (steps > maxSteps) return false
    if (!matches(rule.pattern, path)) continue
    const longer = rule.pattern.length - (best?.pattern.length ?? -1)
    if (longer > 0 || (longer === 0 && rule.allows)) best = rule
  }
  return best?.allows ?? true
}

/** Whether the path begins with what stands before the first `*`, where there is one: cheap, and most rules end here. */
const beginsLike = (pattern: string, path: string): boolean => {
  const star = pattern.indexOf('*')
  return star === -1 || path.startsWith(pattern.slice(0, star))
}

/** Percent-encodings as RFC 9309, section 2.2.2, compares them: unreserved characters plain, all else as `%XX`. */
const normalPath = (path: string): string =>
  /^[!-$&-~]*$/.test(path)
    ? path
    : path
        .replace(/[^\u0021-\u007e]/gu, (character) => encoded(character))
        .replace(/%[0-9a-f]{2}/gi, (code) => {
          const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
          return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase()
        })

const encoded = (character: string): string => (/\p{Surrogate}/u.test(character) ? '%EF%BF%BD' : encodeURI(character))

/** `*` stands for any characters, `$` at the end for the end. It takes steps of at most pattern × path. */
const matches = (pattern: string, path: string): boolean => {
  const isWhole = pattern.endsWith('$')
  const parts = (isWhole ? pattern.slice(0, -1) : pattern).split('*')
  const [first = '', ...rest] = parts
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const [index, part] of rest.entries()) {
    if (isWhole && index === rest.length - 1) return path.length - part.length >= at && path.endsWith(part)
    const found = path.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return !isWhole || at === path.length
}
