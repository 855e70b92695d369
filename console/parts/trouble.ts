import { wordsOf } from '../api.ts'
import { html } from '../html.ts'

/** What went wrong, in words. @param props `error`: null or '' for nothing; `within`: classes of its place */
export const Trouble = ({ error, within = '' }: { error: unknown; within?: string }) =>
  error !== null && error !== '' && html`<p class=${`trouble ${within}`} role="alert">${wordsOf(error)}</p>`
