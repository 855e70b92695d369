import { html } from './html.ts'
import { jsonText } from './parts/turned-text.ts'

/** The machine's context at the selected commit; fields that this commit changed are marked. */
export const ContextPanel = (props: { context: Record<string, unknown>; changed: readonly string[] }) => {
  const { context, changed } = props
  const fields = Object.entries(context)
  if (fields.length === 0) return html`<p class="empty">The context has not changed up to this commit.</p>`
  return html`
    <table class="context w-full border-collapse" aria-label="Context">
      <tbody>${fields.map(
        ([name, value]) => html`<tr key=${name} class=${changed.includes(name) ? 'changed' : ''}>
          <th scope="row" class="w-[11em] px-(--inset) py-5 border-t border-line text-soft font-normal text-left align-top wrap-anywhere">${name}${changed.includes(name) && html` <span class="chip" data-tone="work">changed</span>`}</th>
          <td class="px-(--inset) py-5 border-t border-line align-top wrap-anywhere"><code class="whitespace-pre-wrap">${shown(value)}</code></td>
        </tr>`,
      )}</tbody>
    </table>
  `
}

/** Formats a value; abbreviated texts and lists are shown as their length. */
const shown = (value: unknown) =>
  jsonText(value, 1)
    .replace(/\{\s*"\$length": (\d+)\s*\}/g, '… $1 characters')
    .replace(/\{\s*"\$items": (\d+)\s*\}/g, '… $1 items')
