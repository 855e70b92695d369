import { html } from '../html.js'

/** An element that changes itself, in a template. @param {{ of: HTMLElement }} props */
export const Held = ({ of }) =>
  html`<div class="contents" ref=${(/** @type {HTMLElement | null} */ box) => box?.firstChild ?? box?.append(of)}></div>`
