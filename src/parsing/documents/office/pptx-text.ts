import { maxPdfPages } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { Page } from '../chunk.ts'
import { DocumentRefused } from '../document-refused.ts'
import { type ReadText, TextWriter } from '../text-writer.ts'
import { localName, propertiesPath, readXml, relationsOf, titleIn } from './office-xml.ts'
import { type Parts, zippedParts } from './zipped-parts.ts'

/** Text of a presentation, with the beginnings of its slides. */
export interface PptxText extends ReadText {
  /** Slides that contain text. */
  readonly pages: readonly Page[]
  /** Number of all slides. */
  readonly pageCount: number
}

const presentation = 'ppt/presentation.xml'
const wanted =
  /^ppt\/(?:presentation\.xml|(?:slides|notesSlides)\/[^/]{1,100}\.xml|(?:slides\/)?_rels\/[^/]{1,100}\.rels)$/

/**
 * Converts a presentation (pptx) to Markdown: a heading for each slide, its paragraphs, tables and notes. A slide that is
 * hidden from the audience is left out.
 *
 * @throws {DocumentRefused}, and {Error} for other files.
 */
export const pptxText = async (bytes: Uint8Array): Promise<PptxText> => {
  const parts = await zippedParts(bytes, (path) => path === propertiesPath || wanted.test(path))
  const slides = slidesOf(parts)
  if (slides.length > maxPdfPages) throw new DocumentRefused('too_many_pages')
  const writer = new TextWriter()
  const pages: Page[] = []
  for (const [at, path] of slides.entries()) {
    const slide = parts.get(path) ?? ''
    const { title, isHidden } = factsOf(slide)
    const shown = [slide, ...notesOf(parts, path)]
    if (isHidden || !shown.some(hasText)) continue
    writer.heading(1)
    // the heading begins after the blank line that separates slides
    pages.push({ page: at + 1, start: writer.length === 0 ? 0 : writer.length + 2 })
    writer.text(title === '' ? `Slide ${at + 1}` : title)
    for (const xml of shown) writeShapes(writer, xml)
  }
  return { text: writer.end(), pages, pageCount: slides.length, title: titleIn(parts) }
}

const notesOf = (parts: Parts, slide: string): readonly string[] =>
  [...relationsOf(parts, slide).values()]
    .filter((path) => path.startsWith('ppt/notesSlides/'))
    .map((path) => parts.get(path) ?? '')

/** Returns the paths of the slides in their order. */
const slidesOf = (parts: Parts): readonly string[] => {
  const xml = parts.get(presentation)
  if (xml === undefined) throw new Error('the archive is no presentation')
  const relations = relationsOf(parts, presentation)
  const slides: string[] = []
  readXml(xml, {
    onopentag: (name, attributes) => {
      if (localName(name) !== 'sldId') return
      const path = relations.get(attributes['r:id'] ?? '')
      if (path !== undefined) slides.push(path)
    },
  })
  return slides
}

/** Placeholders of a slide whose text is its title; and those that repeat on every slide. */
const titles: ReadonlySet<string> = new Set(['title', 'ctrTitle'])
const repeated: ReadonlySet<string> = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])

/** Returns the title of a slide, empty for none, and whether the slide is hidden. */
const factsOf = (xml: string): { readonly title: string; readonly isHidden: boolean } => {
  const words: string[] = []
  let isHidden = false
  eachText(xml, {
    hidden: () => {
      isHidden = true
    },
    text: (text, placeholder) => {
      if (titles.has(placeholder)) words.push(text)
    },
  })
  return { title: words.join('').replace(/\s+/g, ' ').trim().slice(0, maxTitle), isHidden }
}

const maxTitle = 500

const hasText = (xml: string): boolean => {
  let has = false
  eachText(xml, {
    text: (text, placeholder) => {
      if (!repeated.has(placeholder) && text.trim() !== '') has = true
    },
  })
  return has
}

const writeShapes = (writer: TextWriter, xml: string): void => {
  const isBody = (placeholder: string): boolean => !titles.has(placeholder) && !repeated.has(placeholder)
  let cells = 0
  eachText(xml, {
    text: (text, placeholder) => {
      if (isBody(placeholder)) writer.text(text)
    },
    opened: (name) => {
      if (name === 'tr') writer.line()
      else if (name === 'tbl') writer.paragraph()
      else if (name === 'br') writer.line()
      else if (name === 'p' && cells === 0) writer.paragraph()
      else if (name === 'tc') {
        cells += 1
        writer.cell()
      }
    },
    closed: (name) => {
      if (name === 'tc') cells -= 1
      else if (name === 'tbl') writer.paragraph()
    },
  })
}

interface TextHandler {
  readonly text: (text: string, placeholder: string) => void
  readonly hidden?: () => void
  readonly opened?: (name: string) => void
  readonly closed?: (name: string) => void
}

/** Calls the handler for the texts of a slide, each with the placeholder that its shape fills. */
const eachText = (xml: string, { text, hidden, opened, closed }: TextHandler): void => {
  let isText = false
  let placeholder = ''
  /** Depth within alternatives for older programs, which repeat the text. */
  let alternatives = 0
  readXml(xml, {
    onopentag: (prefixed, attributes) => {
      const name = localName(prefixed)
      if (name === 'Fallback') alternatives += 1
      if (name === 'sld' && (attributes.show === '0' || attributes.show === 'false')) hidden?.()
      if (name === 'sp' || name === 'graphicFrame') placeholder = ''
      if (name === 'ph') placeholder = attributes.type ?? ''
      isText = name === 't'
      if (alternatives === 0) opened?.(name)
    },
    ontext: (words) => {
      if (isText && alternatives === 0) text(words, placeholder)
    },
    onclosetag: (prefixed) => {
      const name = localName(prefixed)
      if (name === 'Fallback') alternatives -= 1
      if (name === 't') isText = false
      // the words of paragraphs are separate, also in titles
      if (name === 'p' && alternatives === 0) text(' ', placeholder)
      if (alternatives === 0) closed?.(name)
    },
  })
}
