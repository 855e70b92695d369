import { turns } from './parts/turned-text.js'
import htm from './vendor/htm.js'
import { h } from './vendor/preact.js'

/** Elements that hold text alone. */
const plain = ['option', 'textarea', 'title', 'text']

/** Names that turn their text do it within themselves. @param {any} child @returns {any} */
const apart = (child) => (Array.isArray(child) ? child.map(apart) : turns(child) ? h('bdi', null, child) : child)

/** @type {(type: any, props: any, ...children: any[]) => any} */
const element = (type, props, ...children) => h(type, props, ...(plain.includes(type) ? children : children.map(apart)))

/** A template of elements and components. */
export const html = htm.bind(element)

export { render } from './vendor/preact.js'
