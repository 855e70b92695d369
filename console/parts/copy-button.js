import { h } from '../dom.js'
import { html } from '../html.js'

/** The end of an id, which names it among others; a press copies all of it. @param {string} id */
const copyButton = (id) => {
  const button = h('button', { type: 'button', class: 'copy', title: `Copy ${id}` })
  /** The label has the text in it, by which those who speak to their screen press it. @param {string} text @param {string} label */
  const say = (text, label) => {
    button.replaceChildren(text)
    button.setAttribute('aria-label', label)
  }
  const sayId = () => say(shortId(id), `Copy ${shortId(id)}`)
  sayId()
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(id).then(() => say('copied', `copied ${shortId(id)}`))
    setTimeout(sayId, 1_500)
  })
  return button
}

/** The same in a template. A page that refreshes keeps the button, which may have the focus. @param {{ id: string }} props */
export const CopyId = ({ id }) =>
  html`<span key=${id} ref=${(/** @type {HTMLElement | null} */ box) => box?.firstChild ?? box?.append(copyButton(id))}></span>`

/** @param {string} id */
const shortId = (id) => `${id.slice(0, id.lastIndexOf('_') + 1)}…${id.slice(-5)}`

/** Copies the id of the focused link, or of the one under the pointer, when no text is selected. @param {ClipboardEvent} event */
export const copyId = (event) => {
  if (!document.getSelection()?.isCollapsed) return
  const named = document.activeElement?.closest('[data-id]') ?? document.querySelector('[data-id]:hover')
  if (!(named instanceof HTMLElement) || named.dataset.id === undefined) return
  event.clipboardData?.setData('text/plain', named.dataset.id)
  event.preventDefault()
}
