import { maxPdfPages } from '#specs/resources/knowledge/knowledge-limits.ts'
import { DocumentRefused } from '../document-refused.ts'
import { writeHtml } from '../html/html-text.ts'
import { parseMarkup } from '../parse-markup.ts'
import { type ReadText, TextWriter } from '../text-writer.ts'
import { localName, pathFrom } from './office-xml.ts'
import { type Parts, zippedParts } from './zipped-parts.ts'

const container = 'META-INF/container.xml'
const encryption = 'META-INF/encryption.xml'
const wanted = /\.(?:xhtml|html?|xml|opf)$/i

/** A document type with declarations of its own, which HTML does not have. */
const documentType = /<!DOCTYPE[^[>]{0,500}\[[^\]]{0,10000}\]\s{0,100}>/i

/** Algorithms that obfuscate fonts, which books without protection contain, too. */
const ofFonts: ReadonlySet<string> = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC'])

/**
 * Converts an electronic book (EPUB 2 and 3) to Markdown: its documents in the order of reading.
 *
 * @throws {DocumentRefused}, and {Error} for other files.
 */
export const epubText = async (bytes: Uint8Array): Promise<ReadText> => {
  const parts = await zippedParts(bytes, (path) => wanted.test(path))
  if (isEncrypted(parts.get(encryption) ?? '')) throw new DocumentRefused('password_protected')
  const { title, documents } = bookOf(parts)
  if (documents.length > maxPdfPages) throw new DocumentRefused('too_many_pages')
  const writer = new TextWriter()
  for (const path of documents) {
    writer.paragraph()
    writeHtml(writer, (parts.get(path) ?? '').replace(documentType, ''))
    writer.preformatted(false)
  }
  return { text: writer.end(), title }
}

/** XML of books may declare a document type, but no entity of it is replaced. */
const eachTag = (xml: string, opened: (name: string, attributes: Readonly<Record<string, string>>) => void): void =>
  parseMarkup(xml, { onopentag: (name, attributes) => opened(localName(name), attributes) }, { xmlMode: true })

const isEncrypted = (xml: string): boolean => {
  let isIt = false
  eachTag(xml, (name, { Algorithm = '' }) => {
    if (name === 'EncryptionMethod' && !ofFonts.has(Algorithm)) isIt = true
  })
  return isIt
}

/** Returns the title of a book, and the paths of its documents in the order of reading. */
const bookOf = (parts: Parts): { readonly title: string | null; readonly documents: readonly string[] } => {
  let root = ''
  eachTag(parts.get(container) ?? '', (name, attributes) => {
    if (name === 'rootfile' && root === '') root = attributes['full-path'] ?? ''
  })
  const opf = parts.get(root)
  if (opf === undefined) throw new Error('the archive is no electronic book')
  const items = new Map<string, string>()
  const order: string[] = []
  eachTag(opf, (name, { id = '', href = '', idref = '', 'media-type': type = '' }) => {
    if (name === 'item' && /html/i.test(type)) items.set(id, pathFrom(root, decodedPath(href)))
    if (name === 'itemref') order.push(idref)
  })
  // a book may name one of its documents again and again
  const documents = [...new Set(order)].flatMap((id) => items.get(id) ?? [])
  return { title: titleOf(opf), documents: [...new Set(documents)] }
}

const decodedPath = (href: string): string => {
  const path = href.split('#', 1)[0] ?? ''
  try {
    return decodeURIComponent(path)
  } catch {
    // a path may contain a percent sign that is none of an escape
    return path
  }
}

const titleOf = (opf: string): string | null => {
  let isTitle = false
  let title = ''
  parseMarkup(
    opf,
    {
      onopentag: (name) => {
        isTitle = title === '' && localName(name) === 'title'
      },
      ontext: (text) => {
        if (isTitle) title += text
      },
      onclosetag: () => {
        isTitle = false
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  return title.replace(/\s+/g, ' ').trim() || null
}
