import { parseMarkup } from './parse-markup.ts'
import { type ReadText, TextWriter } from './text-writer.ts'

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

/**
 * Converts an HTML document to Markdown: headings, lists, tables and paragraphs. It is read in one pass without
 * building a tree, so that the depth and size of a hostile page do no harm.
 */
export const htmlText = (html: string): ReadText => {
  const writer = new TextWriter()
  let skippedDepth = 0
  let title = ''
  let isTitle = false
  parseMarkup(
    html,
    {
      onopentag: (name) => {
        if (skipped.has(name)) skippedDepth += 1
        if (name === 'title') isTitle = true
        if (skippedDepth === 0) opened(writer, name)
      },
      ontext: (text) => {
        if (skippedDepth > 0) return
        if (isTitle) title += text
        else writer.text(text)
      },
      onclosetag: (name) => {
        if (skipped.has(name)) skippedDepth = Math.max(0, skippedDepth - 1)
        if (name === 'title') isTitle = false
        if (skippedDepth === 0) closed(writer, name)
      },
    },
    { decodeEntities: true },
  )
  return { text: writer.end(), title: title.replace(/\s+/g, ' ').trim() || null }
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
