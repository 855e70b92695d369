import { type ReadText, TextWriter } from '../text-writer.ts'
import { propertiesPath, readXml, titleIn } from './office-xml.ts'
import { type Parts, zippedParts } from './zipped-parts.ts'

const partNames = {
  ...{ document: 'word/document.xml', styles: 'word/styles.xml', properties: propertiesPath },
  ...{ footnotes: 'word/footnotes.xml', endnotes: 'word/endnotes.xml' },
}

/**
 * Converts a Word document (docx) to Markdown: headings, lists, tables and paragraphs, each followed by the footnotes and
 * endnotes that it refers to. Text with the property of hidden text is left out, and so are comments.
 *
 * @throws {DocumentRefused}, and {Error} for other files.
 */
export const docxText = async (bytes: Uint8Array): Promise<ReadText> => {
  const wanted = new Set<string>(Object.values(partNames))
  const parts = await zippedParts(bytes, (path) => wanted.has(path))
  const document = parts.get(partNames.document)
  if (document === undefined) throw new Error('the archive is no Word document')
  const writer = new TextWriter()
  const notes = new Notes([...notesIn(parts, partNames.footnotes), ...notesIn(parts, partNames.endnotes)])
  readPart(document, { writer, levels: headingStyles(parts.get(partNames.styles) ?? ''), notes })
  return { text: writer.end(), title: titleIn(parts) }
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

/** Elements of notes, with the elements that refer to them. */
const noteNames: ReadonlyMap<string, string> = new Map([
  ['w:footnote', 'w:footnoteReference'],
  ['w:endnote', 'w:endnoteReference'],
])
const references: ReadonlySet<string> = new Set(noteNames.values())

const noteKey = (reference: string, id: string | undefined): string => `${reference} ${id}`

/** Returns the texts of the notes of a part, by the element and the id that refer to them. */
const notesIn = (parts: Parts, path: string): readonly (readonly [key: string, text: string])[] => {
  const found: (readonly [key: string, writer: TextWriter])[] = []
  const part: ReadablePart = { writer: new TextWriter(), levels: new Map(), notes: null }
  readPart(parts.get(path) ?? '', part, (name, attributes) => {
    const reference = noteNames.get(name)
    if (reference === undefined) return
    part.writer = new TextWriter()
    found.push([noteKey(reference, attributes['w:id']), part.writer])
  })
  return found.map(([key, writer]) => [key, writer.end()])
}

/** The notes of a document, numbered in the order in which it refers to them. */
class Notes {
  readonly #texts: Map<string, string>
  readonly #waiting: string[] = []
  #count = 0

  constructor(texts: readonly (readonly [key: string, text: string])[]) {
    this.#texts = new Map(texts)
  }

  /** Returns the mark of a note, which is written behind its paragraph; null without text, and after the first reference. */
  mark(key: string): string | null {
    const text = this.#texts.get(key) ?? ''
    this.#texts.delete(key)
    if (text === '') return null
    this.#count += 1
    const mark = `[^${this.#count}]`
    this.#waiting.push(`${mark}: ${text}`)
    return mark
  }

  write(writer: TextWriter): void {
    for (const text of this.#waiting.splice(0)) {
      writer.paragraph()
      writer.text(text)
    }
  }
}

interface ReadablePart {
  writer: TextWriter
  readonly levels: ReadonlyMap<string, number>
  /** null: the part has none. */
  readonly notes: Notes | null
}

/** Writes the text of a part. @param opened called with each element before it is read. */
const readPart = (
  xml: string,
  part: ReadablePart,
  opened: (name: string, attributes: Readonly<Record<string, string>>) => void = () => {},
): void => {
  const { levels, notes } = part
  let isText = false
  /** Depth within text that was deleted or moved from here, and within alternatives for older programs, which repeat it. */
  let left = 0
  let cells = 0
  let isCellStart = false
  let isHidden = false
  let isHeading = false
  readXml(xml, {
    onopentag: (name, attributes) => {
      opened(name, attributes)
      const { writer } = part
      if (name === 'w:t') isText = true
      else if (leftOut.has(name)) left += 1
      else if (name === 'w:r') isHidden = false
      else if (name === 'w:vanish') isHidden = isOn(attributes['w:val'])
      else if (name === 'w:p') {
        isHeading = false
        if (cells === 0) writer.paragraph()
        else if (!isCellStart) writer.text(' ')
        isCellStart = false
      } else if (name === 'w:pStyle') {
        const level = levels.get(attributes['w:val'] ?? '')
        isHeading = level !== undefined && cells === 0
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
      else if (references.has(name) && left === 0 && !isHidden) {
        const mark = notes?.mark(noteKey(name, attributes['w:id'])) ?? null
        // a heading names its chunks, and often the document
        if (mark !== null && !isHeading) writer.text(mark)
      }
    },
    ontext: (text) => {
      if (isText && left === 0 && !isHidden) part.writer.text(text)
    },
    onclosetag: (name) => {
      if (name === 'w:t') isText = false
      else if (leftOut.has(name)) left -= 1
      else if (name === 'w:tc') cells -= 1
      else if (name === 'w:tbl') part.writer.paragraph()
      if ((name === 'w:p' || name === 'w:tbl') && cells === 0) notes?.write(part.writer)
    },
  })
}

/** Whether a property that is present is on: it is unless its value says otherwise. */
const isOn = (value: string | undefined): boolean => value !== '0' && value !== 'false' && value !== 'off'
