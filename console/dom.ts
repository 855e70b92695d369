import { turns } from './parts/turned-text.ts'

/** what is no node and no text is left out */
type Child = Node | string | number | boolean | null | undefined | readonly Child[]
type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>

const svgNamespace = 'http://www.w3.org/2000/svg'

/**
 * Creates an HTML element. Attributes that are functions become listeners of the event of their name; false and
 * undefined are skipped.
 */
export const h = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes?: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] => filled(document.createElement(tag), attributes ?? {}, children)

/** Creates an SVG element. */
export const s = <Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes?: Attributes | null,
  ...children: Child[]
): SVGElementTagNameMap[Tag] => filled(document.createElementNS(svgNamespace, tag), attributes ?? {}, children)

/** Isolates a text with direction control characters, so that they do not affect their surroundings. */
const bdiOf = (text: string) => {
  const bdi = document.createElement('bdi')
  bdi.append(text)
  return bdi
}

/** Returns the element of index.html with this id. */
export const byId = (id: string): HTMLElement => {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`index.html has no #${id}`)
  return element
}

const filled = <E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : String(value))
  }
  for (const child of children.flat(2))
    if (child instanceof Node) element.append(child)
    else if (typeof child === 'string' || typeof child === 'number')
      element.append(turns(child) && element.localName !== 'option' ? bdiOf(child) : String(child))
  return element
}

/** Saves content as a file. */
export const download = (name: string, content: string | Blob, type: string) => {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = h('a', { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
