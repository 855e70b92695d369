import { maxExtractedLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import { DocumentRefused } from './document-refused.ts'

/** Text of a document, and its own title. */
export interface ReadText {
  readonly text: string
  readonly title: string | null
}

/** Builds Markdown from parser events: white space is collapsed, and paragraphs are separated by one blank line. */
export class TextWriter {
  readonly #parts: string[] = []
  #length = 0
  /** Separator before the next word. */
  #before: '' | ' ' | '\n' | '\n\n' = ''
  #mark = ''
  #isPreformatted = false
  #cells = 0

  /** Position of the next word, without the separator before it. */
  get length(): number {
    return this.#length
  }

  /** @throws {DocumentRefused} */
  text(words: string): void {
    if (this.#isPreformatted) {
      this.#put(words)
      return
    }
    let isFirst = true
    for (const word of words.split(/\s/)) {
      if (!isFirst && this.#before === '') this.#before = ' '
      isFirst = false
      if (word !== '') this.#put(word)
    }
  }

  paragraph(): void {
    this.#before = '\n\n'
    this.#mark = ''
    this.#cells = 0
  }

  line(): void {
    if (this.#before !== '\n\n') this.#before = '\n'
    this.#cells = 0
  }

  heading(level: number): void {
    this.paragraph()
    this.#mark = `${'#'.repeat(level)} `
  }

  item(): void {
    this.line()
    this.#mark = '- '
  }

  cell(): void {
    if (this.#cells > 0) this.#mark = ' | '
    if (this.#cells > 0 && this.#before === ' ') this.#before = ''
    this.#cells += 1
  }

  preformatted(isOn: boolean): void {
    this.paragraph()
    this.#isPreformatted = isOn
  }

  end(): string {
    return this.#parts.join('')
  }

  #put(words: string): void {
    const space = this.#length === 0 ? '' : this.#before
    const part = space + this.#mark + words
    this.#before = ''
    this.#mark = ''
    this.#length += part.length
    if (this.#length > maxExtractedLength) throw new DocumentRefused('too_much_text')
    this.#parts.push(part)
  }
}
