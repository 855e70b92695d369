import { html } from '../html.js'
import { icon } from '../icons.js'

/**
 * What a page shows that has nothing to list: what it is for, and how it gets its first entry.
 *
 * @param {{ drawn: string, title: string, children?: import('../vendor/preact.js').ComponentChildren }} props `drawn`: name of an icon
 */
export const Empty = ({ drawn, title, children }) =>
  html`<div class="empty blank"><${Icon} name=${drawn} /><p><strong>${title}</strong></p>${children}</div>`

/** @param {{ name: string }} props */
const Icon = ({ name }) =>
  html`<span class="blank-icon" ref=${(/** @type {HTMLElement | null} */ box) => box?.replaceChildren(icon(name))}></span>`
