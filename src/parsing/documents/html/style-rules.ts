/** Properties that can hide text, and the values with which they do. */
const hiding: Readonly<Record<HidingProperty, RegExp>> = {
  display: /^none$/,
  'content-visibility': /^hidden$/,
  opacity: /^(?:0+(?:\.0*)?|\.0+)%?$/,
  visibility: /^(?:hidden|collapse)$/,
  'font-size': /^(?:0+(?:\.0*)?|\.0+)(?:[a-z]{1,4}|%)?$/,
}

/** A property that can hide text. */
export type HidingProperty = 'display' | 'content-visibility' | 'opacity' | 'visibility' | 'font-size'

/** What a style says of one property. */
export interface Declared {
  readonly property: HidingProperty
  readonly isHiding: boolean
  readonly isImportant: boolean
}

/** A rule of a style sheet for one compound selector, such as `p.note#first`. */
export interface StyleRule {
  /** Name of the element in lower case; null for any. */
  readonly name: string | null
  readonly id: string | null
  readonly classes: readonly string[]
  readonly declared: readonly Declared[]
  /** Rules with a higher rank take precedence: by specificity, then by position. */
  readonly rank: number
}

/** Maximum number of rules that are read, since each costs time; and an upper bound of their positions. */
const [maxRules, maxOrder] = [5_000, 1_000_000]
/** Maximum length of a selector or a declaration; longer ones are embedded images and the like. */
const maxPart = 2_000

const isProperty = (name: string): name is HidingProperty => Object.hasOwn(hiding, name)

/** Returns those declarations of a style that can hide text. */
export const declaredIn = (style: string): readonly Declared[] => {
  const all: Declared[] = []
  for (const part of style.split(';')) {
    const colon = part.indexOf(':')
    if (colon === -1 || part.length > maxPart) continue
    const property = part.slice(0, colon).trim().toLowerCase()
    if (!isProperty(property)) continue
    const [value = '', ...marks] = part
      .slice(colon + 1)
      .trim()
      .toLowerCase()
      .split('!')
      .map((piece) => piece.trim())
    all.push({ property, isHiding: hiding[property].test(value), isImportant: marks.includes('important') })
  }
  return all
}

/**
 * Returns the rules of style sheets that can hide text, for selectors of one compound without combinators, pseudo-classes
 * and attributes: a selector that is not understood hides nothing. Rules for screens count, those for print do not.
 */
export const styleRulesIn = (sheets: readonly string[]): readonly StyleRule[] => {
  const rules: StyleRule[] = []
  for (const { selectors, body } of sheets.flatMap((css) => [...blocksIn(withoutComments(css))])) {
    if (rules.length >= maxRules) break
    const declared = declaredIn(body)
    if (declared.length === 0) continue
    for (const selector of selectors.split(',')) {
      const rule = compoundOf(selector.trim())
      if (rule !== null) rules.push({ ...rule, declared, rank: rule.rank * maxOrder + rules.length })
    }
  }
  return rules
}

const withoutComments = (css: string): string => {
  const parts: string[] = []
  let at = 0
  for (;;) {
    const start = css.indexOf('/*', at)
    if (start === -1) return parts.join(' ') + css.slice(at)
    parts.push(css.slice(at, start))
    const end = css.indexOf('*/', start + 2)
    if (end === -1) return parts.join(' ')
    at = end + 2
  }
}

/** Groups of rules whose rules apply to a screen. */
const forScreens = /^@media\s+(?:only\s+)?(?:screen|all)\s*$/i

interface Level {
  readonly kind: 'group' | 'rule' | 'skipped'
  readonly selectors: string
  readonly start: number
  /** Whether it contains further blocks. */
  hasNested: boolean
}

/** Yields the blocks of declarations, also those within groups for screens, but of no other at-rule and no nested rule. */
function* blocksIn(css: string): Generator<{ readonly selectors: string; readonly body: string }> {
  const open: Level[] = []
  let before = 0
  for (const { 0: brace, index } of css.matchAll(/[{}]/g)) {
    const around = open.at(-1)
    if (brace === '{') {
      const head = css.slice(Math.max(before, index - maxPart), index)
      const selectors = head.slice(head.lastIndexOf(';') + 1).trim()
      if (around?.kind === 'rule') around.hasNested = true
      open.push({ kind: kindOf(selectors, around), selectors, start: index + 1, hasNested: false })
    } else {
      open.pop()
      if (around?.kind === 'rule' && !around.hasNested)
        yield { selectors: around.selectors, body: css.slice(around.start, index) }
    }
    before = index + 1
  }
  // a rule that is not closed ends with its style sheet
  const last = open.at(-1)
  if (last?.kind === 'rule' && !last.hasNested) yield { selectors: last.selectors, body: css.slice(last.start) }
}

const kindOf = (head: string, around: Level | undefined): Level['kind'] => {
  if (around !== undefined && around.kind !== 'group') return 'skipped'
  if (head.startsWith('@')) return forScreens.test(head) ? 'group' : 'skipped'
  return 'rule'
}

const compound = /^(\*|[a-z][a-z0-9-]*)?((?:[.#][\w-]+)*)$/i

/** Parses a selector of one compound; null for any other. Rules for the whole page are those of its loading. */
const compoundOf = (selector: string): Omit<StyleRule, 'declared'> | null => {
  if (selector === '' || selector.length > 200) return null
  const [found, tag = '*', rest = ''] = compound.exec(selector) ?? []
  const name = tag === '*' ? null : tag.toLowerCase()
  if (found === undefined || name === 'html' || name === 'body') return null
  const parts = rest.match(/[.#][\w-]+/g) ?? []
  const ids = parts.filter((part) => part.startsWith('#')).map((part) => part.slice(1))
  const classes = parts.filter((part) => part.startsWith('.')).map((part) => part.slice(1))
  if (ids.length > 1 || (name === null && parts.length === 0)) return null
  const rank = ids.length * 10_000 + classes.length * 100 + (name === null ? 0 : 1)
  return { name, id: ids[0] ?? null, classes, rank }
}
