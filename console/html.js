import { h as node } from './dom.js'
import { turns } from './parts/turned-text.js'
import htm from './vendor/htm.js'
import { h } from './vendor/preact.js'

/** Elements that can contain only text. */
const plain = ['option', 'textarea', 'title', 'text']

/** Wraps texts with direction control characters in `bdi`, so that they do not affect their surroundings. @param {any} child @returns {any} */
const isolated = (child) => (Array.isArray(child) ? child.map(isolated) : turns(child) ? h('bdi', null, child) : child)

/** @type {(type: any, props: any, ...children: any[]) => any} */
const element = (type, props, ...children) =>
  h(type, props, ...(plain.includes(type) ? children : children.map(isolated)))

/** A template of elements and components. */
export const html = htm.bind(element)

/** @this {any} @param {any} tag @param {any} attributes @param {...any} children */
function made(tag, attributes, ...children) {
  // a node is in one place, so none is cached
  this[0] = 3
  return node(tag, attributes, ...children)
}

/** A template of nodes of the document, for code that changes them itself. */
export const dom = /** @type {(strings: TemplateStringsArray, ...values: readonly unknown[]) => any} */ (
  htm.bind(/** @type {any} */ (made))
)

export { useEffect, useId, useMemo, useRef, useState } from './vendor/hooks.js'
export { render } from './vendor/preact.js'

/** Returns a listener that passes the field's value to `set`. @param {(text: string) => void} set */
export const typed =
  (set) =>
  (/** @type {Event} */ { currentTarget }) => {
    if (
      currentTarget instanceof HTMLInputElement ||
      currentTarget instanceof HTMLTextAreaElement ||
      currentTarget instanceof HTMLSelectElement
    )
      set(currentTarget.value)
  }
