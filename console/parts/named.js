import { html } from '../html.js'

/** A link by name, with its id on hover and a button that copies it. @param {{ name: string, id: string, href: string }} props */
export const Named = ({ name, id, href }) =>
  html`<a href=${href} title=${id}>${name}</a> <button type="button" class="copy" title=${`Copy ${id}`} aria-label=${`Copy the id of ${name}`} onClick=${() => navigator.clipboard.writeText(id)}>id</button>`
