import { html } from '../html.ts'

/** Links to the first and the next page of a list; nothing where it has only one. @param props hashes */
export const Pages = ({ first, next }: { first: string | null; next: string | null }) =>
  (first !== null || next !== null) &&
  html`<nav class="flex justify-center gap-16 p-14" aria-label="Pages">
    ${first !== null && html`<a href=${first} rel="first">Newest</a>`}
    ${next !== null && html`<a href=${next} rel="next">Older</a>`}
  </nav>`
