import { html } from '../html.ts'
import { lineDiff } from './line-diff.ts'

/** Removed and added lines among those that stayed. */
export const Diff = ({
  before,
  after,
  label = 'What you changed',
}: Record<'before' | 'after', string> & { label?: string }) =>
  html`<pre class="diff" tabindex="0" aria-label=${label}>${lineDiff(before, after).map(([sign, line]) =>
    sign === '-'
      ? html`<del>- ${line}</del>`
      : sign === '+'
        ? html`<ins>+ ${line}</ins>`
        : html`<span>  ${line}</span>`,
  )}</pre>`
