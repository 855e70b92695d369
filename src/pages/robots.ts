/** Rules of a robots.txt file for one crawler (RFC 9309). */
export interface RobotsRules {
  /** Whether a URL of the site may be fetched. */
  allows(url: URL): boolean
  /** Sitemap URLs as written in the file. */
  readonly sitemaps: readonly string[]
  /**
   * Requested delay between two requests in ms (`Crawl-delay`, which is not part of RFC 9309); at most `maxDelayMs`.
   */
  readonly delayMs: number
  /**
   * Whether nothing may be fetched because the file could not be read: its server or the network failed (RFC 9309,
   * section 2.3.1.4). A later attempt may succeed.
   */
  readonly isUnreachable?: true
}

interface Rule {
  readonly pattern: string
  readonly allows: boolean
}

/** Maximum delay in ms; a longer `Crawl-delay` is reduced to it. */
export const maxDelayMs = 10_000

/** Maximum bytes of the file that are read (RFC 9309, section 2.5). */
export const maxRobotsBytes = 500 * 1024

/** Maximum number of rules per group. */
const maxRules = 10_000
/** Maximum number of sitemap URLs. */
const maxSitemaps = 100
/**
 * Maximum steps for matching one URL with the patterns, about 20 ms. A URL of usual length takes fewer with any file.
 */
const maxSteps = 16_000_000

/** Rules of a site without a robots.txt file. */
export const allowsAll: RobotsRules = { allows: () => true, sitemaps: [], delayMs: 0 }

/** Rules of a site whose server fails to deliver the file. */
export const unreachable: RobotsRules = {
  allows: ({ pathname }) => pathname === '/robots.txt',
  sitemaps: [],
  delayMs: 0,
  isUnreachable: true,
}

/**
 * Returns the rules of the groups that name the crawler, otherwise of those for `*`.
 *
 * @param crawler product token of the crawler, such as `TroupeBot`.
 */
export const robotsOf = (text: string, crawler: string): RobotsRules => {
  const token = crawler.toLowerCase()
  // groups of other crawlers are skipped: a file may have thousands, with thousands of rules each
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

/** Parses a delay in seconds, with or without a fraction; returns ms. */
const delayOf = (value: string): number =>
  /^\d{1,6}(?:\.\d{1,6})?$/.test(value) ? Math.min(maxDelayMs, Number(value) * 1000) : 0

const addRule = (rules: Rule[] | undefined, value: string, allows: boolean): void => {
  if (rules === undefined || rules.length >= maxRules) return
  rules.push({ pattern: normalPath(value), allows })
}

/** Yields the lines with a field. Unknown fields neither end nor begin a group. */
function* linesOf(text: string): Generator<{ readonly field: string; readonly value: string }> {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    const [content = ''] = line.split('#', 1)
    const colon = content.indexOf(':')
    if (colon === -1) continue
    yield { field: content.slice(0, colon).trim().toLowerCase(), value: content.slice(colon + 1).trim() }
  }
}

/** Returns the product token: letters, `_` and `-`, without anything after it, such as a version. */
const tokenOf = (value: string): string => {
  if (value === '*' || value.startsWith('* ')) return '*'
  return /^[a-z_-]+/i.exec(value)?.[0].toLowerCase() ?? value.toLowerCase()
}

/**
 * The longest matching pattern decides; of equally long ones, an allowing one. A URL that takes too long to match is
 * not allowed.
 */
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

/**
 * Whether the path begins with the pattern's part before its first `*`, if it has one: a cheap check that excludes most
 * rules.
 */
const beginsLike = (pattern: string, path: string): boolean => {
  const star = pattern.indexOf('*')
  return star === -1 || path.startsWith(pattern.slice(0, star))
}

/**
 * Normalises percent-encoding for comparison (RFC 9309, section 2.2.2): unreserved characters are decoded, all others
 * are `%XX`.
 */
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

/**
 * Whether a path matches a pattern, in which `*` matches any characters and a final `$` the end. It takes at most
 * pattern × path steps.
 */
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
