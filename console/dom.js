import { turns } from './parts/turned-text.js'

/** @typedef {Node | string | number | boolean | null | undefined | readonly Child[]} Child what is no node and no text is left out */
/** @typedef {Record<string, string | number | boolean | undefined | ((event: Event) => void)>} Attributes */

const svgNamespace = 'http://www.w3.org/2000/svg'

/**
 * Creates an HTML element. Attributes that are functions become listeners of the event of their name; false and
 * undefined are skipped.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const h = (tag, attributes, ...children) => filled(document.createElement(tag), attributes ?? {}, children)

/**
 * Creates an SVG element.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export const s = (tag, attributes, ...children) =>
  filled(document.createElementNS(svgNamespace, tag), attributes ?? {}, children)

/** Isolates a text with direction control characters, so that they do not affect their surroundings. @param {string} text */
const bdiOf = (text) => {
  const bdi = document.createElement('bdi')
  bdi.append(text)
  return bdi
}

/** Returns the element of index.html with this id. @param {string} id @returns {HTMLElement} */
export const byId = (id) => {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`index.html has no #${id}`)
  return element
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 * @returns {E}
 */
const filled = (element, attributes, children) => {
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
