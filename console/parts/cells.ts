import { age, ahead, preciseTime, serverNow, stateName, toneOf } from '../format.ts'
import { html } from '../html.ts'

/** Placeholder for an empty cell. */
export const nothing = '–'

/** The age of a timestamp, with the time itself on hover. */
export const When = ({ at, none = nothing }: { at: string | null; none?: string }) =>
  at === null
    ? html`<span class=${none === nothing ? 'none' : undefined}>${none}</span>`
    : html`<time datetime=${at} title=${preciseTime(at)}>${Date.parse(at) > serverNow().getTime() ? ahead(at) : age(at)}</time>`

/** A state or a status as a coloured label, with its whole path on hover. */
export const StateChip = ({ state }: { state: string }) =>
  html`<span class="chip" data-tone=${toneOf(state)} title=${state}>${stateName(state)}</span>`

/** A link by name, with its id on hover and a button that copies it. */
export const Named = ({ name, id, href }: { name: string; id: string; href: string }) =>
  html`<a href=${href} title=${id} data-id=${id}>${name}</a> <button type="button" class="copy" title=${`Copy ${id}`} aria-label=${`Copy the id of ${name}`} onClick=${() => navigator.clipboard.writeText(id)}>id</button>`
