import { isElement, type PageElement } from './schema.ts'

/** Text of a page between two block boundaries. */
export interface TextRun {
  /** The text with white space collapsed. */
  readonly text: string
  /** The text without white space, by which runs of two trees of one page can be matched. */
  readonly letters: string
  /** Share of its text that is in links. */
  readonly linked: number
  /** Name of the enclosing block element. */
  readonly block: string
}

const blocks = new Set(
  (
    'p div section article main header footer aside blockquote figure figcaption ul ol dl table tbody thead tfoot tr td th caption pre ' +
    'form fieldset address details summary hr body h1 h2 h3 h4 h5 h6 li dt dd center'
  ).split(' '),
)

/** Returns the runs of an element, in document order. */
export const textRuns = (root: PageElement): readonly TextRun[] => {
  const runs: TextRun[] = []
  let metaTags = ''
  let linked = 0
  const flush = (block: string): void => {
    const text = metaTags.replace(/\s+/g, ' ').trim()
    if (text !== '')
      runs.push({ text, letters: text.replaceAll(' ', ''), linked: Math.min(1, linked / text.length), block })
    metaTags = ''
    linked = 0
  }
  const walk = (element: PageElement, block: string, isLink: boolean): void => {
    for (const node of element.childNodes) {
      if (node.nodeType === 3) {
        metaTags += node.textContent
        if (isLink) linked += node.textContent.trim().length
      } else if (isElement(node)) {
        const name = node.localName
        const isBlock = blocks.has(name)
        if (isBlock) flush(block)
        if (name === 'br') metaTags += ' '
        walk(node, isBlock ? name : block, isLink || name === 'a')
        if (isBlock) flush(name)
      }
    }
  }
  walk(root, root.localName, false)
  flush(root.localName)
  return runs
}
