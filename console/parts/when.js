import { age, preciseTime } from '../format.js'
import { html } from '../html.js'
import { nothing } from './table.js'

/** The age of a timestamp, with the time itself on hover. @param {{ at: string | null, none?: string }} props */
export const When = ({ at, none = nothing }) =>
  at === null
    ? html`<span class=${none === nothing ? 'none' : undefined}>${none}</span>`
    : html`<time datetime=${at} title=${preciseTime(at)}>${age(at)}</time>`
