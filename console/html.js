import htm from './vendor/htm.js'
import { h } from './vendor/preact.js'

/** A template of elements and components. */
export const html = htm.bind(h)

export { render } from './vendor/preact.js'
