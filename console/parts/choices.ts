import { html } from '../html.ts'

/** Links to the values of one choice, of which one is current. @param props `kinds`: they head the page */
export const Choices = (
  props: Props & {
    values: Readonly<Record<string, string>>
    now: string
    to: (value: string) => string
    kinds?: boolean
  },
) => {
  const { label, values, now, to, kinds = false } = props
  return html`<nav class=${`choice flex w-fit border border-line rounded-7 bg-panel text-13 whitespace-nowrap overflow-x-auto overflow-y-hidden ${kinds ? 'max-w-[calc(100%-2*var(--gutter))] mx-(--gutter) mb-12' : 'max-w-full'}`} aria-label=${label}>${Object.entries(values).map(([value, text]) => html`<a class="flex-none px-10 py-3 not-first:border-l border-line text-soft font-normal aria-[current]:bg-accent-soft aria-[current]:text-accent" href=${to(value)} aria-current=${value === now ? 'true' : undefined}>${text}</a>`)}</nav>`
}
