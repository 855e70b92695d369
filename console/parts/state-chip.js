import { stateName, toneOf } from '../format.js'
import { html } from '../html.js'

/** A state or a status as a coloured label, with its whole path on hover. @param {{ state: string }} props */
export const StateChip = ({ state }) =>
  html`<span class="chip" data-tone=${toneOf(state)} title=${state}>${stateName(state)}</span>`
