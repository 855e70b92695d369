import { html } from '../html.ts'

/** An element that changes itself, in a template. */
export const Held = ({ of }: { of: HTMLElement }) =>
  html`<div class="contents" ref=${(box: HTMLElement | null) => box?.firstChild ?? box?.append(of)}></div>`
