import { Marked, type Tokens } from 'marked'

/** A part of a page, for the search. */
export interface Section {
  readonly title: string
  /** The anchor of its heading; '' for the beginning of the page. */
  readonly anchor: string
  readonly text: string
}

/** A rendered text. */
export interface Rendered {
  readonly title: string
  readonly html: string
  readonly sections: readonly Section[]
}

const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes a text for HTML. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => signs[sign] ?? sign)

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const maxSectionLength = 2000

/** Text without its marks. */
const plainOf = (text: string): string => text.replaceAll(/[`*_|#]|\[|\]\([^)\s]*\)/g, ' ').replaceAll(/\s+/g, ' ')

/**
 * Renders a page of Markdown.
 *
 * @param targetOf returns where a relative link leads on this server; null: nowhere, and the link becomes its text.
 */
export const render = (source: string, targetOf: (href: string) => string | null): Rendered => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${escaped(anchorOf(plainOf(text).trim()))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const words = this.parser.parseInline(tokens)
        if (/^https?:\/\//.test(href)) return `<a href="${escaped(href)}" rel="noreferrer">${words}</a>`
        const target = href.startsWith('#') ? href : targetOf(href)
        return target === null ? words : `<a href="${escaped(target)}">${words}</a>`
      },
      image({ href, text }: Tokens.Image) {
        const target = targetOf(href)
        return target === null ? '' : `<img src="${escaped(target)}" alt="${escaped(text)}" loading="lazy" />`
      },
      // a region that scrolls sideways has to be reachable by keyboard
      code({ text, lang = '' }: Tokens.Code) {
        const name = lang === '' ? 'Example' : `Example (${lang})`
        return `<pre tabindex="0" role="group" aria-label="${escaped(name)}"><code>${escaped(text)}</code></pre>\n`
      },
      table({ header, rows }: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`
      },
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return escaped(text)
      },
    },
  })
  const sections = sectionsOf(source)
  return { title: sections[0]?.title ?? '', html: marked.parse(source, { async: false }), sections }
}

const sectionsOf = (source: string): readonly Section[] => {
  const parts = source.split(/^(?=#{1,3} )/m)
  let isCode = false
  const sections: Section[] = []
  for (const part of parts) {
    const isHeading = !isCode && /^#{1,3} /.test(part)
    const [line = ''] = part.split('\n', 1)
    for (const _ of part.matchAll(/^```/gm)) isCode = !isCode
    const text = plainOf(isHeading ? part.slice(line.length) : part).trim()
    const title = plainOf(line).trim()
    if (isHeading) {
      const anchor = sections.length === 0 ? '' : anchorOf(title)
      sections.push({ title, anchor, text: text.slice(0, maxSectionLength) })
    }
  }
  return sections
}
