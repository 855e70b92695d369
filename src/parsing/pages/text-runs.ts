import { isElement, type PageElement } from './schema.ts'

/** Text of a page from one border of a block to the next. */
export interface TextRun {
  /** With one space where it has white space. */
  readonly text: string
  /** Without white space: what two trees of one page have in common. */
  readonly letters: string
  /** Share of it that is links. */
  readonly linked: number
  /** Name of the block that it stands in. */
  readonly block: string
}

const blocks = new Set(
  (
    'p div section article main header footer aside blockquote figure figcaption ul ol dl table tbody thead tfoot tr td th caption pre ' +
    'form fieldset address details summary hr body h1 h2 h3 h4 h5 h6 li dt dd center'
  ).split(' '),
)

/** The runs of an element in the order of the page. */
export const textRuns = (root: PageElement): readonly TextRun[] => {
  const runs: TextRun[] = []
  let said = ''
  let linked = 0
  const flush = (block: string): void => {
    const text = said.replace(/\s+/g, ' ').trim()
    if (text !== '')
      runs.push({ text, letters: text.replaceAll(' ', ''), linked: Math.min(1, linked / text.length), block })
    said = ''
    linked = 0
  }
  const walk = (element: PageElement, block: string, isLink: boolean): void => {
    for (const node of element.childNodes) {
      if (node.nodeType === 3) {
        said += node.textContent
        if (isLink) linked += node.textContent.trim().length
      } else if (isElement(node)) {
        const name = node.localName
        const isBlock = blocks.has(name)
        if (isBlock) flush(block)
        if (name === 'br') said += ' '
        walk(node, isBlock ? name : block, isLink || name === 'a')
        if (isBlock) flush(name)
      }
    }
  }
  walk(root, root.localName, false)
  flush(root.localName)
  return runs
}
