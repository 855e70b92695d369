import { html, useState } from '../html.ts'

/**
 * The end of an id, which names it among others; a press copies all of it. The label has the text in it, by which those
 * who speak to their screen press it.
 */
export const CopyId = ({ id }: { id: string }) => {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(id)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  const short = shortId(id)
  return html`<button key=${id} type="button" class="copy" title=${`Copy ${id}`} aria-label=${`${copied ? 'copied' : 'Copy'} ${short}`} onClick=${copy}>${copied ? 'copied' : short}</button>`
}

const shortId = (id: string) => `${id.slice(0, id.lastIndexOf('_') + 1)}…${id.slice(-5)}`

/** Copies the id of the focused link, or of the one under the pointer, when no text is selected. */
export const copyId = (event: ClipboardEvent) => {
  if (!document.getSelection()?.isCollapsed) return
  const named = document.activeElement?.closest('[data-id]') ?? document.querySelector('[data-id]:hover')
  if (!(named instanceof HTMLElement) || named.dataset.id === undefined) return
  event.clipboardData?.setData('text/plain', named.dataset.id)
  event.preventDefault()
}
