import type { Need } from './answers.d.ts'
import { callApi } from './api.ts'
import { riskChip } from './approval-form.ts'
import { FirstSteps } from './first-steps.ts'
import { age, ahead, machineName } from './format.ts'
import { html } from './html.ts'
import { linked } from './linked-ids.ts'
import { livePage } from './live-page.ts'
import { nameOf, titleOf } from './names.ts'
import { DayTotals } from './overview/totals.ts'
import { argumentsText } from './parts/turned-text.ts'
import { listHash, routeHash } from './route.ts'
import { sessionNow } from './session.ts'

/** Maximum number of items per kind that the server lists (`observation.attention`). */
const max = 50

const sections: readonly { kinds: readonly Need['kind'][]; title: string; tone: string }[] = [
  { kinds: ['approval', 'hand_over'], title: 'Waiting for a person', tone: 'wait' },
  { kinds: ['stuck'], title: 'Stuck', tone: 'bad' },
  { kinds: ['slow'], title: 'Slow', tone: 'wait' },
  { kinds: ['failed'], title: 'Failed in the last 24 hours', tone: 'bad' },
  { kinds: ['refused'], title: 'Refused in the last 24 hours', tone: 'bad' },
  { kinds: ['webhook'], title: 'Failing webhooks', tone: 'bad' },
  { kinds: ['node'], title: 'Crashes of nodes in the last 24 hours', tone: 'wait' },
]

/** Items that need a person, each with its age and its cause in one sentence. */
export const homePage = livePage({
  everyMs: 2_000,
  read: ({ project }) => callApi(project, 'observation.attention'),
  show: ({ place: { project }, data }) => html`<${Home} project=${project} needs=${data.data} />`,
})

const Home = ({ project, needs }: { project: string; needs: readonly Need[] }) => html`
  <div class="view-head">
    <h1>Home</h1>
    <span class="muted" role="status">${attentionText(needs)}</span>
  </div>
  ${needs.length === 0 && html`<p class="empty">Nothing waits, is stuck or has failed. <a href=${listHash({ project })}>Look at the sessions</a>, or press <kbd>/</kbd> to find something.</p>`}
  <h2 class="px-(--gutter) pb-6 text-12 text-soft font-semibold">Last 24 hours</h2>
  <${DayTotals} project=${project} />
  ${sessionNow().operates && html`<${FirstSteps} project=${project} />`}
  ${sections.map(({ kinds, title, tone }) => {
    const found = needs.filter((need) => kinds.includes(need.kind))
    return found.length === 0
      ? null
      : html`<${Section} project=${project} title=${title} tone=${tone} needs=${found} />`
  })}
  <p class="px-(--gutter)"><a href=${routeHash({ view: 'bundle', project })}>Open a saved bundle</a></p>
`

const isCut = (needs: readonly Need[]) =>
  ['approval', 'stuck'].some((kind) => needs.filter((need) => need.kind === kind).length >= max)

const attentionText = (needs: readonly Need[]) => {
  if (needs.length === 0) return 'Nothing needs attention.'
  if (isCut(needs)) return `${needs.length} or more items need attention.`
  return needs.length === 1 ? 'One item needs attention.' : `${needs.length} items need attention.`
}

const Section = ({ project, title, tone, needs }: Props & { tone: string; needs: readonly Need[] }) => html`
  <section class="panel needs" aria-label=${title}>
    <h2>${title} <span class="chip" data-tone=${tone}>${needs.reduce((sum, { count }) => sum + count, 0)}${isCut(needs) ? '+' : ''}</span> ${needs.some(({ kind }) => kind === 'approval') && html`<a href=${routeHash({ view: 'approvals', project })}>Decide them in one place</a>`}</h2>
    <ul>${needs.map((need) => html`<${Row} key=${need.kind + need.id + need.subject} project=${project} need=${need} />`)}</ul>
  </section>
`

const Row = ({ project, need }: { project: string; need: Need }) => html`
  <li>
    <div class="row items-baseline gap-x-10 gap-y-2 wrap-anywhere [&>:first-child]:font-semibold">
      <a href=${hrefOf(project, need)} title=${need.id} data-id=${need.id}>${need.subject === need.id ? titleOf(need.id) : need.subject}</a>
      ${need.machine && html`<span class="muted">${machineName(need.machine)}</span>`}
      ${need.risk_level && riskChip(need.risk_level)}
      ${need.tenant_id && html`<span class="muted">tenant <a href=${listHash({ project, tenant: need.tenant_id })} title=${need.tenant_id}>${nameOf(need.tenant_id)}</a></span>`}
      ${need.tool !== null && html`<a href=${listHash({ project, machine: '', tool: need.tool })}>failed ${timesOf(need.count)}</a>`}
      ${need.tool === null && need.kind === 'failed' && need.count > 1 && html`<a href=${listHash({ project, machine: '', error: need.subject })}>${timesOf(need.count)}</a>`}
      <span class="flex gap-12 ml-auto text-soft tabular-nums">
        ${need.expires_at && html`<span>expires ${ahead(need.expires_at)}</span>`}
        <time datetime=${need.since} title=${need.since}>${age(need.since)}</time>
      </span>
    </div>
    <p class="block wrap-anywhere">${linked(project, need.cause)}</p>
    <p class="text-soft wrap-anywhere empty:hidden">${argumentsText(Object(need.arguments))}</p>
  </li>
`

const timesOf = (count: number) => (count === 1 ? 'once' : `${count} times`)

const hrefOf = (project: string, { kind, id, error, tenant_id }: Need) => {
  if (kind === 'webhook') return listHash({ project, machine: 'delivery' })
  if (kind === 'node') return routeHash({ view: 'nodes', project })
  if (kind !== 'refused') return routeHash({ view: 'actor', project, id })
  return routeHash({ view: 'gateway', project, query: { error: error ?? '', tenant: tenant_id ?? '', open: id } })
}
