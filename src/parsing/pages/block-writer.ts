import { isElement, type PageElement, type PageNode } from './schema.ts'

/** Output format of a text. */
export type TextFormat = 'text' | 'markdown'

const blocks = new Set(
  (
    'p div section article main header footer aside blockquote figure figcaption ul ol dl table pre form fieldset address ' +
    'details summary hr body h1 h2 h3 h4 h5 h6 li dt dd tr center'
  ).split(' '),
)
const marks: Readonly<Record<string, string>> = {
  strong: '**',
  b: '**',
  em: '*',
  i: '*',
  code: '`',
  del: '~~',
  s: '~~',
}

/** Formats the text of an element as plain text or Markdown, with blank lines between blocks. */
export const textOf = (element: PageElement, format: TextFormat): string => {
  const writer = new BlockWriter(format)
  writer.children(element)
  return writer.end()
}

class BlockWriter {
  readonly #format: TextFormat
  readonly #blocks: string[] = []
  #line = new GrowingLine()
  /** Prefix of the next block: of a heading, list item or quote. */
  #prefix = ''
  #depth = 0
  /** Numbers of the elements of each numbered list. */
  readonly #places = new WeakMap<PageElement, ReadonlyMap<PageNode, number>>()
  #isTight = false

  constructor(format: TextFormat) {
    this.#format = format
  }

  end(): string {
    this.#flush()
    return this.#blocks.join('').trim()
  }

  children(element: PageNode & { readonly childNodes: Iterable<PageNode> }): void {
    for (const node of element.childNodes) {
      if (node.nodeType === 3) this.#line.add(node.textContent.replace(/\s+/g, ' '))
      else if (isElement(node)) this.#element(node)
    }
  }

  #element(element: PageElement): void {
    const name = element.localName
    if (name === 'br') this.#break()
    else if (name === 'pre') this.#pre(element)
    else if (name === 'img') this.#image(element)
    else if (name === 'table' && this.#format === 'markdown') this.#table(element)
    else if (name === 'li') this.#item(element)
    else if (blocks.has(name)) this.#block(element)
    else this.#inline(element, name)
  }

  #inline(element: PageElement, name: string): void {
    if (name === 'td' || name === 'th') this.#line.add(' ')
    const mark = this.#format === 'text' || element.textContent.trim() === '' ? undefined : marks[name]
    if (this.#format === 'markdown' && name === 'a') this.#link(element)
    else if (mark === undefined) this.children(element)
    else {
      this.#line.add(mark)
      this.children(element)
      this.#line.trimEnd()
      this.#line.add(mark)
    }
  }

  #break(): void {
    this.#line.trimEnd()
    this.#line.add('\n')
  }

  #block(element: PageElement): void {
    this.#flush()
    const level = /^h([1-6])$/.exec(element.localName)?.[1]
    if (this.#format === 'markdown' && level !== undefined) this.#prefix = `${'#'.repeat(Number(level))} `
    if (this.#format === 'markdown' && element.localName === 'blockquote') this.#prefix = '> '
    this.children(element)
    this.#flush()
    this.#prefix = ''
  }

  #item(element: PageElement): void {
    this.#flush()
    if (this.#format === 'markdown') this.#prefix = `${'  '.repeat(this.#depth)}${this.#bullet(element)} `
    this.#isTight = this.#blocks.length > 0
    this.#depth += 1
    this.children(element)
    this.#depth -= 1
    this.#flush()
    this.#prefix = ''
  }

  #bullet(item: PageElement): string {
    const list = item.parentElement
    if (list?.localName !== 'ol') return '-'
    let places = this.#places.get(list)
    if (places === undefined) {
      places = new Map([...list.childNodes].filter((node) => isElement(node)).map((node, at) => [node, at + 1]))
      this.#places.set(list, places)
    }
    return `${places.get(item) ?? 1}.`
  }

  #pre(element: PageElement): void {
    this.#flush()
    const text = element.textContent.replace(/^\n/, '').trimEnd()
    if (text.trim() === '') return
    const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
    this.#push(this.#format === 'markdown' ? `${fence}\n${text}\n${fence}` : text)
  }

  #image(element: PageElement): void {
    const alt = element.getAttribute('alt')?.trim() ?? ''
    const source = element.getAttribute('src') ?? ''
    if (this.#format === 'markdown' && alt !== '' && /^https?:/.test(source)) this.#line.add(`![${alt}](${source})`)
  }

  #link(element: PageElement): void {
    const address = element.getAttribute('href') ?? ''
    const before = this.#line
    this.#line = new GrowingLine()
    this.children(element)
    const text = this.#line.take()
    const isLink = text.trim() !== '' && !text.includes('\n') && /^https?:/.test(address)
    this.#line = before
    this.#line.add(isLink ? `[${text.trim()}](${address.replace(/[()\s]/g, encodeURIComponent)})` : text)
  }

  #table(table: PageElement): void {
    this.#flush()
    const rows = [...table.querySelectorAll('tr')].slice(0, 2_000).map((row) => {
      const cells = [...row.childNodes].filter((node) => isElement(node) && /^t[dh]$/.test(node.localName))
      return cells.map((cell) => cell.textContent.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|'))
    })
    const [head, ...rest] = rows.filter((row) => row.some((cell) => cell !== ''))
    if (head === undefined) return
    if (head.length < 2 && rest.every((row) => row.length < 2)) {
      this.children(table)
      return
    }
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
    this.#push([line(head), line(head.map(() => '---')), ...rest.map(line)].join('\n'))
  }

  #flush(): void {
    const text = this.#line
      .take()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' ').trim())
      .join('\n')
      .trim()
    if (text === '') return
    this.#push(this.#prefix + text)
    this.#prefix = ''
  }

  #push(text: string): void {
    this.#blocks.push(this.#blocks.length === 0 ? '' : this.#isTight ? '\n' : '\n\n', text)
    this.#isTight = false
  }
}

/** Text of a block that is being written. Trimming a string would copy all of it each time. */
class GrowingLine {
  readonly #parts: string[] = []

  add(text: string): void {
    if (text !== '') this.#parts.push(text)
  }

  trimEnd(): void {
    for (let last = this.#parts.pop(); last !== undefined; last = this.#parts.pop()) {
      const text = last.trimEnd()
      if (text === '') continue
      this.#parts.push(text)
      return
    }
  }

  /** Returns the text, and empties the line. */
  take(): string {
    return this.#parts.splice(0).join('')
  }
}
