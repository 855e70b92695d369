import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'

/** The part of a DOM node that pages are read with. */
export interface PageNode {
  readonly nodeType: number
  readonly textContent: string
  readonly childNodes: Iterable<PageNode>
  readonly parentElement: PageElement | null
  remove(): void
}

/** An element of a page. */
export interface PageElement extends PageNode {
  readonly localName: string
  readonly className: string
  readonly id: string
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  hasAttribute(name: string): boolean
  querySelectorAll(selector: string): Iterable<PageElement>
}

/** A parsed page. */
export interface PageDocument {
  readonly body: PageElement
  querySelectorAll(selector: string): Iterable<PageElement>
}

/** Whether a node is an element. */
export const isElement = (node: PageNode): node is PageElement => node.nodeType === 1

/** A page as a tree. It may take for ever: only cleaned HTML, in a worker. */
export const documentOf = (html: string): PageDocument =>
  parseHTML(`<!doctype html><html><head></head><body>${html}</body></html>`).document as unknown as PageDocument

/** The part of a DOM that text is put in by. */
interface Growing {
  readonly ownerDocument: { createElement(name: string): { textContent: string } }
  prepend(...nodes: unknown[]): void
}

/** Puts paragraphs before what an element has. */
export const prependParagraphs = (element: PageElement, texts: readonly string[]): void => {
  const growing = element as unknown as Growing
  const paragraphs = texts.map((text) => Object.assign(growing.ownerDocument.createElement('p'), { textContent: text }))
  growing.prepend(...paragraphs)
}

/** The element that Readability takes for the article of a page, which it changes; null when it finds none. */
export const articleOf = (document: PageDocument): PageElement | null => {
  const options = { serializer: (node: unknown) => node as PageElement, disableJSONLD: true, keepClasses: true }
  try {
    return new Readability(document as never, options).parse()?.content ?? null
  } catch {
    // it fails on trees of some shapes, and the page has a text all the same
    return null
  }
}
