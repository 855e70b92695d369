import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'

/** The part of a DOM node that is used. */
export interface PageNode {
  readonly nodeType: number
  readonly textContent: string
  readonly childNodes: Iterable<PageNode>
  readonly parentElement: PageElement | null
  remove(): void
}

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

export const isElement = (node: PageNode): node is PageElement => node.nodeType === 1

/** Parses HTML into a tree. It may run for ever, so it must only get cleaned HTML, and only run in a worker. */
export const documentOf = (html: string): PageDocument =>
  parseHTML(`<!doctype html><html><head></head><body>${html}</body></html>`).document as unknown as PageDocument

/** The part of the DOM used to insert text. */
interface Growing {
  readonly ownerDocument: { createElement(name: string): { textContent: string } }
  prepend(...nodes: unknown[]): void
}

/** Inserts paragraphs at the start of an element. */
export const prependParagraphs = (element: PageElement, texts: readonly string[]): void => {
  const growing = element as unknown as Growing
  const paragraphs = texts.map((text) => Object.assign(growing.ownerDocument.createElement('p'), { textContent: text }))
  growing.prepend(...paragraphs)
}

/** Returns the element that Readability takes for the article; null when it finds none. It modifies the document. */
export const articleOf = (document: PageDocument): PageElement | null => {
  const options = { serializer: (node: unknown) => node as PageElement, disableJSONLD: true, keepClasses: true }
  try {
    return new Readability(document as never, options).parse()?.content ?? null
  } catch {
    // Readability throws on some trees, whose text can still be read otherwise
    return null
  }
}
