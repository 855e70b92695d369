import { type Declared, declaredIn, type HidingProperty, type StyleRule, styleRulesIn } from './style-rules.ts'

type Attributes = Readonly<Record<string, string>>

/** How an element is shown. */
export interface Shown {
  /** Whether the element and all of its content are hidden. */
  readonly isGone: boolean
  /** Whether its own text is hidden, while elements in it can be shown again. */
  readonly isInvisible: boolean
  /** Whether its own text has no size, likewise. */
  readonly isEmpty: boolean
}

/** How the text outside all elements is shown. */
export const plainlyShown: Shown = { isGone: false, isInvisible: false, isEmpty: false }

/** Maximum number of classes of an element that are looked up. */
const maxClasses = 32

interface Decided extends Declared {
  readonly rank: number
}

/** Ranks of styles that are no rules: the attribute `hidden` is below all rules, the attribute `style` above. */
const [ofBrowser, ofAttribute] = [-1, Number.MAX_SAFE_INTEGER]

/**
 * Decides which elements a reader of an HTML document does not see: by the attributes `hidden` and `style`, and by simple
 * rules of its style sheets. Text for screen readers only, and text that is decoration for them, is seen by a reader or
 * read to one, and so it is text of the document (specs/decisions/0143-documents.md).
 */
export class HiddenElements {
  /** Rules by the most specific part of their selector. */
  readonly #rules = new Map<string, StyleRule[]>()

  /** @param sheets the document's style sheets, in order. */
  constructor(sheets: readonly string[]) {
    for (const rule of styleRulesIn(sheets)) {
      const key = keyOf(rule)
      const known = this.#rules.get(key)
      if (known === undefined) this.#rules.set(key, [rule])
      else known.push(rule)
    }
  }

  /** Returns how an element is shown within its parent. */
  shown(name: string, attributes: Attributes, parent: Shown): Shown {
    if (parent.isGone) return parent
    const { style, hidden } = attributes
    if (style === undefined && hidden === undefined && this.#rules.size === 0) return parent
    const decided = new Map<HidingProperty, Decided>()
    const add = (declared: readonly Declared[], rank: number): void => {
      for (const each of declared)
        if (isStronger({ ...each, rank }, decided)) decided.set(each.property, { ...each, rank })
    }
    // `until-found` is shown as soon as a reader searches for it
    if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') add(declaredIn('display:none'), ofBrowser)
    for (const { declared, rank } of this.#matching(name, attributes)) add(declared, rank)
    if (style !== undefined) add(declaredIn(style), ofAttribute)
    if (decided.size === 0) return parent
    const hides = (property: HidingProperty): boolean => decided.get(property)?.isHiding ?? false
    return {
      isGone: hides('display') || hides('content-visibility') || hides('opacity'),
      isInvisible: decided.get('visibility')?.isHiding ?? parent.isInvisible,
      isEmpty: decided.get('font-size')?.isHiding ?? parent.isEmpty,
    }
  }

  *#matching(name: string, { id, class: names = '' }: Attributes): Generator<StyleRule> {
    if (this.#rules.size === 0) return
    const classes = names === '' ? [] : [...new Set(names.split(/\s+/, maxClasses))]
    const keys = [name, ...(id === undefined ? [] : [`#${id}`]), ...classes.map((each) => `.${each}`)]
    for (const key of keys) {
      for (const rule of this.#rules.get(key) ?? []) {
        const isOf = (rule.name === null || rule.name === name) && (rule.id === null || rule.id === id)
        if (isOf && rule.classes.every((each) => classes.includes(each))) yield rule
      }
    }
  }
}

const keyOf = ({ id, classes: [first], name }: StyleRule): string => {
  if (id !== null) return `#${id}`
  return first === undefined ? `${name}` : `.${first}`
}

const isStronger = (next: Decided, decided: ReadonlyMap<HidingProperty, Decided>): boolean => {
  const known = decided.get(next.property)
  if (known === undefined) return true
  if (known.isImportant !== next.isImportant) return next.isImportant
  return next.rank >= known.rank
}
