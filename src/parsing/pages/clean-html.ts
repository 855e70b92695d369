import { Tokenizer } from 'htmlparser2'
import { decodedEntities } from './entities.ts'

/** An opening tag with its relevant attributes, decoded. */
export interface OpenedTag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** Returns the raw text up to the next tag; for titles and scripts. */
  readonly text: () => string
}

/** A page reduced so that its tree can be built safely; what exceeds the limits is left out. */
export interface CleanPage {
  /** HTML of the body. */
  readonly html: string
  /** Metadata elements, in order. */
  readonly metaTags: readonly OpenedTag[]
  readonly language: string | null
  /** Kinds of parts that exceeded a limit and were left out. */
  readonly leftOut: readonly string[]
}

/** Limits of a page's tree; the time of all further processing grows with these. */
const pageLimits = {
  depth: 100,
  elements: 20_000,
  references: 20_000,
  attributes: 16,
  attribute: 4_096,
  text: 3_000_000,
} as const

const void_ = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements whose content is not text of the page. */
const skipped = new Set(
  'script style svg math template iframe object canvas video audio noscript select datalist button applet'.split(' '),
)
/** Metadata elements. */
const saying = new Set('title meta link script time base'.split(' '))
const kept = new Set(
  'href src class id hidden aria-hidden role style datetime itemprop rel lang dir alt colspan rowspan start type'.split(
    ' ',
  ),
)
const metaAttributes = new Set('name property content http-equiv charset title hreflang pubdate'.split(' '))
const maxMetaTags = 4_000
/** Maximum number of unclosed elements that a closing tag may close. */
const maxUnclosed = 60

const blocks = (
  'address article aside blockquote center details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header ' +
  'hr main menu nav ol p pre section table ul'
).split(' ')
const cells = new Set(['td', 'th', 'p'])
const rows = new Set(['tr', 'td', 'th', 'p'])
const groups = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th'])

/** Elements that an opening tag closes implicitly, since their closing tags are optional. */
const closedBy: Readonly<Record<string, ReadonlySet<string>>> = {
  ...Object.fromEntries(blocks.map((name) => [name, new Set(['p'])])),
  ...{ li: new Set(['li', 'p']), dt: new Set(['dt', 'dd', 'p']), dd: new Set(['dt', 'dd', 'p']) },
  ...{ td: cells, th: cells, tr: rows, thead: groups, tbody: groups, tfoot: groups },
}

interface Open {
  readonly name: string
  readonly isWritten: boolean
  readonly isSkipped: boolean
}

/** Empty titles and styles in SVG: the tokenizer would treat all text after them as their content. */
const emptyTitles = /<(?:title|style)\s*\/>/gi

/** Parses a page in one pass and linear time, and serialises it within the limits. */
export const cleanPage = (source: string): CleanPage => {
  const html = source.replace(emptyTitles, '')
  const cleaner = new Cleaner(html)
  const tokenizer = new Tokenizer({ decodeEntities: false, xmlMode: false }, cleaner)
  tokenizer.write(html)
  tokenizer.end()
  return cleaner.result()
}

class Cleaner {
  readonly #html: string
  readonly #parts: string[] = []
  readonly #stack: Open[] = []
  readonly #metaTags: OpenedTag[] = []
  readonly #leftOut = new Set<string>()
  #attributes: Record<string, string> = {}
  #attribute = ''
  #value = ''
  #count = 0
  #name = ''
  #elements = 0
  #references = 0
  #length = 0
  #depth = 0
  #skipping = 0
  #pre = 0
  #language: string | null = null

  constructor(html: string) {
    this.#html = html
  }

  result(): CleanPage {
    return {
      html: this.#parts.join(''),
      metaTags: this.#metaTags,
      language: this.#language,
      leftOut: [...this.#leftOut],
    }
  }

  ontext(start: number, end: number): void {
    if (this.#skipping > 0 || this.#isOf('title')) return
    const text = this.#html.slice(start, end)
    const whole = this.#withReferences(this.#pre > 0 ? text.replace(/[ \t]{1000,}/g, ' ') : text.replace(/\s+/g, ' '))
    const left = pageLimits.text - this.#length
    if (whole.length > left) this.#leftOut.add('text')
    this.#length += Math.min(whole.length, left)
    if (left > 0) this.#parts.push(whole.slice(0, left))
  }

  /** Limits character references: each becomes a separate node when the tree is built. */
  #withReferences(text: string): string {
    if (!text.includes('<') && !text.includes('&')) return text
    this.#references += 1
    if (this.#references < pageLimits.references) return text.replaceAll('<', '&lt;')
    this.#leftOut.add('references')
    return text.replace(/[<&]+/g, ' ')
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#html.slice(start, Math.min(end, start + 60)).toLowerCase()
    this.#attributes = {}
    this.#count = 0
  }

  onattribname(start: number, end: number): void {
    this.#attribute = end - start > 40 ? '' : this.#html.slice(start, end).toLowerCase()
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, Math.min(end, start + pageLimits.attribute))
  }

  onattribend(): void {
    if (!kept.has(this.#attribute) && !metaAttributes.has(this.#attribute)) return
    if (this.#attribute in this.#attributes) return
    this.#count += 1
    if (this.#count > pageLimits.attributes) this.#leftOut.add('attributes')
    else this.#attributes[this.#attribute] = this.#value
  }

  onopentagend(end: number): void {
    this.#open(end, void_.has(this.#name))
  }

  onselfclosingtag(end: number): void {
    this.#open(end, void_.has(this.#name) || this.#skipping > 0 || skipped.has(this.#name))
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, Math.min(end, start + 60)).toLowerCase()
    const lowest = Math.max(0, this.#stack.length - maxUnclosed)
    let at = this.#stack.length - 1
    while (at >= lowest && this.#stack[at]?.name !== name) at -= 1
    if (at < lowest) return
    while (this.#stack.length > at) this.#close(this.#stack.pop())
  }

  onattribentity(): void {}
  ontextentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #isOf(name: string): boolean {
    return this.#stack.at(-1)?.name === name
  }

  #open(end: number, isVoid: boolean): void {
    const name = this.#name
    this.#note(name, end)
    const implied = closedBy[name]
    while (implied?.has(this.#stack.at(-1)?.name ?? '')) this.#close(this.#stack.pop())
    const isSkipped = skipped.has(name)
    const isWritten = this.#skipping === 0 && !isSkipped && this.#hasSpaceFor(name)
    if (isWritten) this.#parts.push(this.#written(name))
    if (isVoid) return
    this.#stack.push({ name, isWritten, isSkipped })
    if (isWritten) this.#depth += 1
    if (isSkipped) this.#skipping += 1
    if (name === 'pre') this.#pre += 1
  }

  #hasSpaceFor(name: string): boolean {
    if (['html', 'head', 'body', 'title', 'meta', 'link', 'base'].includes(name) || !/^[a-z][a-z0-9-]*$/.test(name))
      return false
    if (this.#depth >= pageLimits.depth) this.#leftOut.add('depth')
    else if (this.#elements >= pageLimits.elements) this.#leftOut.add('elements')
    else {
      this.#elements += 1
      return true
    }
    return false
  }

  #written(name: string): string {
    const attributes = Object.entries(this.#attributes).flatMap(([key, value]) =>
      kept.has(key) ? [` ${key}="${value.replaceAll('"', '&quot;')}"`] : [],
    )
    return `<${name}${attributes.join('')}>`
  }

  #close(open: Open | undefined): void {
    if (open === undefined) return
    if (open.isSkipped) this.#skipping -= 1
    if (open.name === 'pre') this.#pre -= 1
    if (!open.isWritten) return
    this.#depth -= 1
    this.#parts.push(`</${open.name}>`)
  }

  #note(name: string, end: number): void {
    if (name === 'html') this.#language ??= this.#attributes.lang ?? null
    if ((!saying.has(name) && this.#attributes.itemprop === undefined) || this.#metaTags.length >= maxMetaTags) return
    const raw = this.#attributes
    const attributes = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, decodedEntities(value)]))
    this.#metaTags.push({ name, attributes, text: () => textAfter(this.#html, end + 1, name) })
  }
}

/** Returns the text of an element without child elements. */
const textAfter = (html: string, from: number, name: string): string => {
  const limit = name === 'script' ? 300_000 : 2_000
  const rest = html.slice(from, from + limit)
  const end = name === 'script' ? rest.search(/<\/script/i) : rest.indexOf('<')
  return end === -1 ? '' : rest.slice(0, end)
}
