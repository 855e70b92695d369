import { parseMarkup } from '../parse-markup.ts'
import { type ReadText, TextWriter } from '../text-writer.ts'
import { HiddenElements, plainlyShown, type Shown } from './hidden-elements.ts'

/** Elements whose content is not text of the document. */
const skipped: ReadonlySet<string> = new Set([
  ...['script', 'style', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'canvas', 'video', 'audio'],
  ...['nav', 'button', 'select', 'datalist', 'dialog'],
])

/** Elements that begin and end a paragraph. */
const blocks: ReadonlySet<string> = new Set([
  ...['p', 'div', 'section', 'article', 'main', 'header', 'footer', 'aside', 'blockquote', 'figure', 'figcaption'],
  ...['ul', 'ol', 'dl', 'table', 'pre', 'form', 'fieldset', 'address', 'details', 'summary', 'hr', 'body'],
])

const headings: ReadonlyMap<string, number> = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]))

/** Values of `media` of style sheets that apply to screens. */
const screenMedia: ReadonlySet<string> = new Set(['', 'all', 'screen'])

/** Maximum total length of style sheets that are read. */
const maxStyleLength = 1_000_000

interface Open {
  readonly shown: Shown
  /** Whether neither the element nor one around it is skipped or hidden. */
  readonly isWritten: boolean
}

/**
 * Converts an HTML document to Markdown: headings, lists, tables and paragraphs, without text that a reader does not see.
 * It is read in one pass without building a tree, so that the depth and size of a hostile page do no harm.
 */
export const htmlText = (html: string): ReadText => {
  const writer = new TextWriter()
  const title = writeHtml(writer, html)
  return { text: writer.end(), title }
}

/** Writes an HTML document, and returns its title. */
export const writeHtml = (writer: TextWriter, html: string): string | null => {
  const elements = new HiddenElements(stylesIn(html))
  const around: Open[] = [{ shown: plainlyShown, isWritten: true }]
  let title = ''
  let isTitle = false
  parseMarkup(
    html,
    {
      onopentag: (name, attributes) => {
        const parent = around.at(-1) ?? { shown: plainlyShown, isWritten: true }
        const shown = elements.shown(name, attributes, parent.shown)
        const isWritten = parent.isWritten && !shown.isGone && !skipped.has(name)
        around.push({ shown, isWritten })
        if (name === 'title') isTitle = true
        if (isWritten) opened(writer, name)
      },
      ontext: (text) => {
        const { shown, isWritten } = around.at(-1) ?? { shown: plainlyShown, isWritten: true }
        if (!isWritten) return
        if (isTitle) title += text
        else if (!shown.isInvisible && !shown.isEmpty) writer.text(text)
      },
      onclosetag: (name) => {
        const closing = around.length > 1 ? around.pop() : undefined
        if (name === 'title') isTitle = false
        if (closing?.isWritten === true) closed(writer, name)
      },
    },
    { decodeEntities: true },
  )
  return title.replace(/\s+/g, ' ').trim() || null
}

/** Returns the style sheets of a document, which may come after the text that they hide. */
const stylesIn = (html: string): readonly string[] => {
  if (!/<style/i.test(html)) return []
  const sheets: string[] = []
  let length = 0
  let isStyle = false
  parseMarkup(
    html,
    {
      onopentag: (name, { media = 'all' }) => {
        isStyle = name === 'style' && screenMedia.has(media.trim().toLowerCase())
        if (isStyle) sheets.push('')
      },
      ontext: (text) => {
        if (!isStyle || length >= maxStyleLength) return
        sheets.push((sheets.pop() ?? '') + text)
        length += text.length
      },
      onclosetag: () => {
        isStyle = false
      },
    },
    { decodeEntities: false },
  )
  return sheets
}

const opened = (writer: TextWriter, name: string): void => {
  const level = headings.get(name)
  if (level !== undefined) writer.heading(level)
  else if (name === 'pre') writer.preformatted(true)
  else if (blocks.has(name)) writer.paragraph()
  else if (name === 'li' || name === 'dt' || name === 'dd') writer.item()
  else if (name === 'tr') writer.line()
  else if (name === 'td' || name === 'th') writer.cell()
  else if (name === 'br') writer.line()
}

const closed = (writer: TextWriter, name: string): void => {
  if (name === 'pre') writer.preformatted(false)
  else if (headings.has(name) || blocks.has(name)) writer.paragraph()
}
