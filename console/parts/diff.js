import { html } from '../html.js'
import { lineDiff } from './line-diff.js'

/** Removed and added lines among those that stayed. @param {{ before: string, after: string, label?: string }} props */
export const Diff = ({ before, after, label = 'What you changed' }) =>
  html`<pre class="diff" tabindex="0" aria-label=${label}>${lineDiff(before, after).map(([sign, line]) =>
    sign === '-'
      ? html`<del>- ${line}</del>`
      : sign === '+'
        ? html`<ins>+ ${line}</ins>`
        : html`<span>  ${line}</span>`,
  )}</pre>`
