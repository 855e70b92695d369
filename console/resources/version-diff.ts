import { html, typed, useState } from '../html.ts'
import { Diff } from '../parts/diff.ts'
import { routeHash } from '../route.ts'
import type { Row } from './types.ts'
import { outlineOf } from './version-outline.ts'

/** What changed between a version and another one, by default the one before it. @param props `rows`: newest first */
export const VersionDiff = ({ project, row, rows }: { project: string; row: Row; rows: readonly Row[] }) => {
  const before = rows[rows.findIndex(({ version }) => version === row.version) + 1]
  const others = rows.filter(({ version }) => version !== row.version)
  const [other, choose] = useState(String((before ?? others[0])?.version ?? ''))
  const chosen = others.find(({ version }) => version === other)
  const owner = String(row.agent_id ?? row.prompt_id ?? '')
  if (chosen === undefined) return null
  const [old, now] = [outlineOf(chosen), outlineOf(row)]
  const query = { mode: 'requests', a: `${owner}@${other}`, b: `${owner}@${row.version}` }
  return html`<section class="panel-part" aria-label="Changes">
    <h3>Changes since <select aria-label="Version to compare with" value=${other} onChange=${typed(choose)}>${others.map(({ version }) => html`<option value=${String(version)} selected=${version === other}>${String(version)}</option>`)}</select>
      <a href=${routeHash({ view: 'playground', project, query })}>Try both in the playground</a></h3>
    ${old === now ? html`<p class="muted">Both are the same.</p>` : html`<${Diff} label=${`Changes since ${other}`} before=${old} after=${now} />`}
  </section>`
}
