import { type ReadText, TextWriter } from '../text-writer.ts'
import { propertiesPath, readXml, titleIn } from './office-xml.ts'
import { zippedParts } from './zipped-parts.ts'

const partNames = { document: 'word/document.xml', styles: 'word/styles.xml', properties: propertiesPath }

/**
 * Converts a Word document (docx) to Markdown: headings, lists, tables and paragraphs. Text with the property of hidden
 * text is left out.
 *
 * @throws {DocumentRefused}, and {Error} for other files.
 */
export const docxText = async (bytes: Uint8Array): Promise<ReadText> => {
  const wanted = new Set<string>(Object.values(partNames))
  const parts = await zippedParts(bytes, (path) => wanted.has(path))
  const document = parts.get(partNames.document)
  if (document === undefined) throw new Error('the archive is no Word document')
  const text = documentText(document, headingStyles(parts.get(partNames.styles) ?? ''))
  return { text, title: titleIn(parts) }
}

/** Returns heading levels by style id. Ids are localised, but the names of styles are not. */
const headingStyles = (xml: string): ReadonlyMap<string, number> => {
  const levels = new Map<string, number>()
  let style = ''
  readXml(xml, {
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

const leftOut: ReadonlySet<string> = new Set(['w:del', 'w:moveFrom', 'mc:Fallback'])

const documentText = (xml: string, levels: ReadonlyMap<string, number>): string => {
  const writer = new TextWriter()
  let isText = false
  /** Depth within text that was deleted or moved from here, and within alternatives for older programs, which repeat it. */
  let left = 0
  let cells = 0
  let isCellStart = false
  let isHidden = false
  readXml(xml, {
    onopentag: (name, attributes) => {
      if (name === 'w:t') isText = true
      else if (leftOut.has(name)) left += 1
      else if (name === 'w:r') isHidden = false
      else if (name === 'w:vanish') isHidden = isOn(attributes['w:val'])
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
      if (isText && left === 0 && !isHidden) writer.text(text)
    },
    onclosetag: (name) => {
      if (name === 'w:t') isText = false
      else if (leftOut.has(name)) left -= 1
      else if (name === 'w:tc') cells -= 1
      else if (name === 'w:tbl') writer.paragraph()
    },
  })
  return writer.end()
}

/** Whether a property that is present is on: it is unless its value says otherwise. */
const isOn = (value: string | undefined): boolean => value !== '0' && value !== 'false' && value !== 'off'
