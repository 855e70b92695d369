import { zipFiles } from '../archives/zip-files.ts'
import { DocumentRefused } from './document-refused.ts'
import { parseMarkup } from './parse-markup.ts'
import { type ReadText, TextWriter } from './text-writer.ts'

/** Maximum total size of the parts that are read, once unpacked. */
const maxUnpackedBytes = 64 * 1024 * 1024

/** First bytes of documents in the format before docx, and of those that are protected by a password. */
const oldFormat = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

const partNames = { document: 'word/document.xml', styles: 'word/styles.xml', properties: 'docProps/core.xml' }

/**
 * Converts a Word document (docx) to Markdown: headings, lists, tables and paragraphs.
 *
 * @throws {DocumentRefused}, and {Error} for other files.
 */
export const docxText = async (bytes: Uint8Array): Promise<ReadText> => {
  if (oldFormat.equals(bytes.subarray(0, oldFormat.length))) throw new DocumentRefused('old_word_format')
  const parts = await partsOf(bytes)
  const document = parts.get(partNames.document)
  if (document === undefined) throw new Error('the archive is no Word document')
  const text = documentText(document, headingStyles(parts.get(partNames.styles) ?? ''))
  return { text, title: titleOf(parts.get(partNames.properties) ?? '') }
}

const partsOf = async (bytes: Uint8Array): Promise<ReadonlyMap<string, string>> => {
  const wanted = new Set(Object.values(partNames))
  const parts = new Map<string, string>()
  let unpacked = 0
  for await (const { path, size, read } of zipFiles(bytes)) {
    if (!wanted.has(path)) continue
    unpacked += size
    if (unpacked > maxUnpackedBytes) throw new Error('the document unpacks to too many bytes')
    parts.set(path, (await read()).toString('utf8'))
  }
  return parts
}

/** Returns heading levels by style id. Ids are localised, but the names of styles are not. */
const headingStyles = (xml: string): ReadonlyMap<string, number> => {
  const levels = new Map<string, number>()
  let style = ''
  read(xml, {
    onopentag: (name, attributes) => {
      if (name === 'w:style') style = attributes['w:styleId'] ?? ''
      if (name === 'w:name') setLevel(levels, style, attributes['w:val'] ?? '')
    },
  })
  return levels
}

const setLevel = (levels: Map<string, number>, style: string, name: string): void => {
  const lower = name.toLowerCase()
  const level = lower === 'title' ? 1 : Number(lower.startsWith('heading ') ? lower.slice(8) : Number.NaN)
  if (level >= 1 && level <= 6) levels.set(style, level)
}

const documentText = (xml: string, levels: ReadonlyMap<string, number>): string => {
  const writer = new TextWriter()
  let isText = false
  let deleted = 0
  let cells = 0
  let isCellStart = false
  read(xml, {
    onopentag: (name, attributes) => {
      if (name === 'w:t') isText = true
      else if (name === 'w:del') deleted += 1
      else if (name === 'w:p') {
        if (cells === 0) writer.paragraph()
        else if (!isCellStart) writer.text(' ')
        isCellStart = false
      } else if (name === 'w:pStyle') {
        const level = levels.get(attributes['w:val'] ?? '')
        if (level !== undefined && cells === 0) writer.heading(level)
      } else if (name === 'w:numPr' && cells === 0) writer.item()
      else if (name === 'w:tbl') writer.paragraph()
      else if (name === 'w:tr') writer.line()
      else if (name === 'w:tc') {
        cells += 1
        isCellStart = true
        writer.cell()
      } else if (name === 'w:tab') writer.text(' ')
      else if (name === 'w:br' || name === 'w:cr') writer.line()
    },
    ontext: (text) => {
      if (isText && deleted === 0) writer.text(text)
    },
    onclosetag: (name) => {
      if (name === 'w:t') isText = false
      else if (name === 'w:del') deleted -= 1
      else if (name === 'w:tc') cells -= 1
      else if (name === 'w:tbl') writer.paragraph()
    },
  })
  return writer.end()
}

const titleOf = (xml: string): string | null => {
  let isTitle = false
  let title = ''
  read(xml, {
    onopentag: (name) => {
      isTitle = name === 'dc:title'
    },
    ontext: (text) => {
      if (isTitle) title += text
    },
    onclosetag: () => {
      isTitle = false
    },
  })
  return title.trim() || null
}

const read = (xml: string, handler: Parameters<typeof parseMarkup>[1]): void =>
  parseMarkup(xml, handler, { xmlMode: true, decodeEntities: true })
