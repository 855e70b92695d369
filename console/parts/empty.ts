import { html } from '../html.ts'
import { Icon } from '../icons.ts'

/**
 * What a page shows that has nothing to list: what it is for, and how it gets its first entry.
 *
 * @param props `drawn`: name of an icon; `create`: the address of the form for the first entry, or of where to go on, `one`: what that
 * entry is, `verb`: the text of the button if it does something else
 */
export const Empty = (props: Props & { drawn: string; create?: string | false; one?: string; verb?: string }) => {
  const { drawn, title, create = false, one, verb = `New ${one}`, children } = props
  return html`<div class="empty grid justify-items-center gap-8 max-w-[62ch] my-[8vh] text-center"><span class="grid place-items-center size-52 rounded-16 bg-accent-soft text-accent [&_.icon]:size-24"><${Icon} name=${drawn} /></span><p><strong class="text-ink text-15">${title}</strong></p>${children}${create && html`<p><a class="button" href=${create}>${verb}</a></p>`}</div>`
}
