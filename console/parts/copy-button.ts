import { h } from '../dom.ts'
import { html } from '../html.ts'

/** The end of an id, which names it among others; a press copies all of it. */
const copyButton = (id: string) => {
  const button = h('button', { type: 'button', class: 'copy', title: `Copy ${id}` })
  /** The label has the text in it, by which those who speak to their screen press it. */
  const say = (text: string, label: string) => {
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

/** The same in a template. A page that refreshes keeps the button, which may have the focus. */
export const CopyId = ({ id }: { id: string }) =>
  html`<span key=${id} ref=${(box: HTMLElement | null) => box?.firstChild ?? box?.append(copyButton(id))}></span>`

const shortId = (id: string) => `${id.slice(0, id.lastIndexOf('_') + 1)}…${id.slice(-5)}`

/** Copies the id of the focused link, or of the one under the pointer, when no text is selected. */
export const copyId = (event: ClipboardEvent) => {
  if (!document.getSelection()?.isCollapsed) return
  const named = document.activeElement?.closest('[data-id]') ?? document.querySelector('[data-id]:hover')
  if (!(named instanceof HTMLElement) || named.dataset.id === undefined) return
  event.clipboardData?.setData('text/plain', named.dataset.id)
  event.preventDefault()
}
