import { html } from '../html.js'

/** Links to the values of one choice, of which one is current. @param {{ label: string, values: Readonly<Record<string, string>>, now: string, to: (value: string) => string, kinds?: boolean }} props `kinds`: they head the page */
export const Choices = ({ label, values, now, to, kinds = false }) =>
  html`<nav class=${kinds ? 'filter kinds' : 'filter'} aria-label=${label}>${Object.entries(values).map(([value, text]) => html`<a href=${to(value)} aria-current=${value === now ? 'true' : undefined}>${text}</a>`)}</nav>`
